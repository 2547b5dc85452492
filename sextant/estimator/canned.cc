#include "sextant/estimator/canned.h"

namespace sextant {
namespace {

// The parts of options that all classifiers, all regressors and both kinds of a model have.
template <typename Options>
heads::Head ClassHead(const Options& o) {
  return heads::BinaryOrMultiClass(o.n_classes, {.weight_column = o.weight_column,
                                                 .label_vocabulary = o.label_vocabulary,
                                                 .loss_reduction = o.loss_reduction,
                                                 .prediction_style = o.prediction_style});
}
template <typename Options>
heads::Head NumberHead(const Options& o) {
  return heads::Regression({.label_dimension = o.label_dimension,
                            .weight_column = o.weight_column,
                            .loss_reduction = o.loss_reduction});
}
template <typename Options>
ModelFn Linear(const Options& o, const heads::Head& head) {
  return LinearModelFn({.feature_columns = o.feature_columns,
                        .optimizer = o.optimizer,
                        .partitioner = o.partitioner,
                        .sparse_combiner = o.sparse_combiner},
                       head);
}
template <typename Options>
ModelFn DNN(const Options& o, const heads::Head& head) {
  return DNNModelFn({.feature_columns = o.feature_columns,
                     .hidden_units = o.hidden_units,
                     .optimizer = o.optimizer,
                     .activation = o.activation,
                     .dropout = o.dropout,
                     .input_layer_partitioner = o.input_layer_partitioner,
                     .batch_norm = o.batch_norm},
                    head);
}
template <typename Options>
ModelFn DNNLinearCombined(const Options& o, const heads::Head& head) {
  return DNNLinearCombinedModelFn({.linear_feature_columns = o.linear_feature_columns,
                                   .linear_optimizer = o.linear_optimizer,
                                   .dnn_feature_columns = o.dnn_feature_columns,
                                   .dnn_optimizer = o.dnn_optimizer,
                                   .dnn_hidden_units = o.dnn_hidden_units,
                                   .dnn_activation = o.dnn_activation,
                                   .dnn_dropout = o.dnn_dropout,
                                   .input_layer_partitioner = o.input_layer_partitioner,
                                   .batch_norm = o.batch_norm,
                                   .linear_sparse_combiner = o.linear_sparse_combiner},
                                  head);
}

}  // namespace

Estimator LinearClassifier(const LinearClassifierOptions& options, const RunConfig& config) {
  return Estimator(Linear(options, ClassHead(options)), config, {}, options.warm_start_from);
}

Estimator LinearRegressor(const LinearRegressorOptions& options, const RunConfig& config) {
  return Estimator(Linear(options, NumberHead(options)), config, {}, options.warm_start_from);
}

Estimator DNNClassifier(const DNNClassifierOptions& options, const RunConfig& config) {
  return Estimator(DNN(options, ClassHead(options)), config, {}, options.warm_start_from);
}

Estimator DNNRegressor(const DNNRegressorOptions& options, const RunConfig& config) {
  return Estimator(DNN(options, NumberHead(options)), config, {}, options.warm_start_from);
}

Estimator DNNLinearCombinedClassifier(const DNNLinearCombinedClassifierOptions& options,
                                      const RunConfig& config) {
  return Estimator(DNNLinearCombined(options, ClassHead(options)), config, {},
                   options.warm_start_from);
}

Estimator DNNLinearCombinedRegressor(const DNNLinearCombinedRegressorOptions& options,
                                     const RunConfig& config) {
  return Estimator(DNNLinearCombined(options, NumberHead(options)), config, {},
                   options.warm_start_from);
}

Estimator BaselineClassifier(const BaselineClassifierOptions& options, const RunConfig& config) {
  return Estimator(BaselineModelFn(options.optimizer, ClassHead(options)), config, {},
                   options.warm_start_from);
}

Estimator BaselineRegressor(const BaselineRegressorOptions& options, const RunConfig& config) {
  return Estimator(BaselineModelFn(options.optimizer, NumberHead(options)), config, {},
                   options.warm_start_from);
}

}  // namespace sextant

// Canned estimators: linear models, networks of dense layers and both together over feature
// columns, and models that know only the labels. Arguments, defaults and the names of variables,
// slots, metrics, summaries and signatures are those of tf.compat.v1.estimator, so that checkpoints
// and exports go both ways.
//
//   Estimator estimator = LinearClassifier({.feature_columns = {age, education}},
//                                          {.model_dir = "runs/census"});
//
// Options are explained in canned_models.h and heads.h. All throw INVALID_ARGUMENT, naming the
// option, for one that does not fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/estimator/canned_models.h"
#include "sextant/estimator/estimator.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API LinearClassifierOptions {
  std::vector<columns::FeatureColumn> feature_columns;
  int64_t n_classes = 2;
  std::string weight_column = {};
  std::vector<std::string> label_vocabulary = {};
  OptimizerChoice optimizer = "Ftrl";
  Partitioner partitioner = {};
  WarmStart warm_start_from = {};
  losses::Reduction loss_reduction = losses::Reduction::kSum;
  std::string sparse_combiner = "sum";
  heads::PredictionStyle prediction_style = heads::PredictionStyle::kCurrent;
};
Estimator LinearClassifier(const LinearClassifierOptions& options, const RunConfig& config = {});

struct SEXTANT_API LinearRegressorOptions {
  std::vector<columns::FeatureColumn> feature_columns;
  int64_t label_dimension = 1;
  std::string weight_column = {};
  OptimizerChoice optimizer = "Ftrl";
  Partitioner partitioner = {};
  WarmStart warm_start_from = {};
  losses::Reduction loss_reduction = losses::Reduction::kSum;
  std::string sparse_combiner = "sum";
};
Estimator LinearRegressor(const LinearRegressorOptions& options, const RunConfig& config = {});

struct SEXTANT_API DNNClassifierOptions {
  std::vector<columns::FeatureColumn> feature_columns;
  std::vector<int64_t> hidden_units;
  int64_t n_classes = 2;
  std::string weight_column = {};
  std::vector<std::string> label_vocabulary = {};
  OptimizerChoice optimizer = "Adagrad";
  layers::Activation activation = {};
  float dropout = 0;
  Partitioner input_layer_partitioner = {};
  WarmStart warm_start_from = {};
  losses::Reduction loss_reduction = losses::Reduction::kSum;
  bool batch_norm = false;
  heads::PredictionStyle prediction_style = heads::PredictionStyle::kCurrent;
};
Estimator DNNClassifier(const DNNClassifierOptions& options, const RunConfig& config = {});

struct SEXTANT_API DNNRegressorOptions {
  std::vector<columns::FeatureColumn> feature_columns;
  std::vector<int64_t> hidden_units;
  int64_t label_dimension = 1;
  std::string weight_column = {};
  OptimizerChoice optimizer = "Adagrad";
  layers::Activation activation = {};
  float dropout = 0;
  Partitioner input_layer_partitioner = {};
  WarmStart warm_start_from = {};
  losses::Reduction loss_reduction = losses::Reduction::kSum;
  bool batch_norm = false;
};
Estimator DNNRegressor(const DNNRegressorOptions& options, const RunConfig& config = {});

struct SEXTANT_API DNNLinearCombinedClassifierOptions {
  std::vector<columns::FeatureColumn> linear_feature_columns = {};
  OptimizerChoice linear_optimizer = "Ftrl";
  std::vector<columns::FeatureColumn> dnn_feature_columns = {};
  OptimizerChoice dnn_optimizer = "Adagrad";
  std::vector<int64_t> dnn_hidden_units = {};
  layers::Activation dnn_activation = {};
  float dnn_dropout = 0;
  int64_t n_classes = 2;
  std::string weight_column = {};
  std::vector<std::string> label_vocabulary = {};
  Partitioner input_layer_partitioner = {};
  WarmStart warm_start_from = {};
  losses::Reduction loss_reduction = losses::Reduction::kSum;
  bool batch_norm = false;
  std::string linear_sparse_combiner = "sum";
  heads::PredictionStyle prediction_style = heads::PredictionStyle::kCurrent;
};
Estimator DNNLinearCombinedClassifier(const DNNLinearCombinedClassifierOptions& options,
                                      const RunConfig& config = {});

struct SEXTANT_API DNNLinearCombinedRegressorOptions {
  std::vector<columns::FeatureColumn> linear_feature_columns = {};
  OptimizerChoice linear_optimizer = "Ftrl";
  std::vector<columns::FeatureColumn> dnn_feature_columns = {};
  OptimizerChoice dnn_optimizer = "Adagrad";
  std::vector<int64_t> dnn_hidden_units = {};
  layers::Activation dnn_activation = {};
  float dnn_dropout = 0;
  int64_t label_dimension = 1;
  std::string weight_column = {};
  Partitioner input_layer_partitioner = {};
  WarmStart warm_start_from = {};
  losses::Reduction loss_reduction = losses::Reduction::kSum;
  bool batch_norm = false;
  std::string linear_sparse_combiner = "sum";
};
Estimator DNNLinearCombinedRegressor(const DNNLinearCombinedRegressorOptions& options,
                                     const RunConfig& config = {});

struct SEXTANT_API BaselineClassifierOptions {
  int64_t n_classes = 2;
  std::string weight_column = {};
  std::vector<std::string> label_vocabulary = {};
  OptimizerChoice optimizer = "Ftrl";  // learning rate 0.3
  WarmStart warm_start_from = {};
  losses::Reduction loss_reduction = losses::Reduction::kSum;
  heads::PredictionStyle prediction_style = heads::PredictionStyle::kCurrent;
};
Estimator BaselineClassifier(const BaselineClassifierOptions& options = {},
                             const RunConfig& config = {});

struct SEXTANT_API BaselineRegressorOptions {
  int64_t label_dimension = 1;
  std::string weight_column = {};
  OptimizerChoice optimizer = "Ftrl";  // learning rate 0.3
  WarmStart warm_start_from = {};
  losses::Reduction loss_reduction = losses::Reduction::kSum;
};
Estimator BaselineRegressor(const BaselineRegressorOptions& options = {},
                            const RunConfig& config = {});

}  // namespace sextant

#pragma GCC visibility pop

// The models of canned estimators, with any head: linear models, networks of dense layers, both
// added up, and a bias alone.
//
//   Estimator estimator(DNNModelFn({.feature_columns = columns, .hidden_units = {64, 32}},
//                                  heads::MultiLabel(5)), {.model_dir = "runs/tags"});
//
// Names of variables, slots and summaries are those of tf.compat.v1.estimator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/estimator/heads.h"
#include "sextant/nn/feature_column.h"
#include "sextant/nn/layers.h"

#pragma GCC visibility push(default)

namespace sextant {

// An optimizer, or the name of one ("Adagrad", "Adam", "Ftrl", "RMSProp", "SGD", …), which gets the
// learning rate of the estimator.
class SEXTANT_API OptimizerChoice {
 public:
  OptimizerChoice(train::Optimizer optimizer) : optimizer_(std::move(optimizer)) {}  // NOLINT
  OptimizerChoice(std::string name) : name_(std::move(name)) {}                      // NOLINT
  OptimizerChoice(const char* name) : name_(name) {}                                 // NOLINT
  // Throws INVALID_ARGUMENT for an unknown name.
  train::Optimizer Make(double learning_rate) const;

 private:
  train::Optimizer optimizer_;
  std::string name_;
};

struct SEXTANT_API LinearModelFnOptions {
  std::vector<columns::FeatureColumn> feature_columns;
  OptimizerChoice optimizer = "Ftrl";  // learning rate 0.2
  // Default: a part for each parameter server, as long as it has 64 MB.
  Partitioner partitioner = {};
  std::string sparse_combiner = "sum";
};
struct SEXTANT_API DNNModelFnOptions {
  std::vector<columns::FeatureColumn> feature_columns;
  std::vector<int64_t> hidden_units;
  OptimizerChoice optimizer = "Adagrad";  // learning rate 0.05
  layers::Activation activation = {};     // default: ReLU
  float dropout = 0;
  Partitioner input_layer_partitioner = {};  // of embeddings; default as above
  bool batch_norm = false;
};
struct SEXTANT_API DNNLinearCombinedModelFnOptions {
  std::vector<columns::FeatureColumn> linear_feature_columns = {};
  OptimizerChoice linear_optimizer = "Ftrl";  // learning rate 0.005, or 1 / sqrt(columns) if less
  std::vector<columns::FeatureColumn> dnn_feature_columns = {};
  OptimizerChoice dnn_optimizer = "Adagrad";  // learning rate 0.001
  std::vector<int64_t> dnn_hidden_units = {};
  layers::Activation dnn_activation = {};
  float dnn_dropout = 0;
  Partitioner input_layer_partitioner = {};  // also of the linear model
  bool batch_norm = false;
  std::string linear_sparse_combiner = "sum";
};

// Throw INVALID_ARGUMENT for options that do not fit: no columns, no hidden units, a rate of
// dropout that is none.
ModelFn LinearModelFn(const LinearModelFnOptions& options, const heads::Head& head);
ModelFn DNNModelFn(const DNNModelFnOptions& options, const heads::Head& head);
// Columns of one part may be missing: then there is only the other.
ModelFn DNNLinearCombinedModelFn(const DNNLinearCombinedModelFnOptions& options,
                                 const heads::Head& head);
// Ignores the features.
ModelFn BaselineModelFn(const OptimizerChoice& optimizer, const heads::Head& head);

}  // namespace sextant

#pragma GCC visibility pop

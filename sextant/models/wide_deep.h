// Wide and deep models over feature columns: a linear model, a network of dense layers, or both
// added up. Variables are those of TensorFlow's canned estimators: "linear/linear_model/…",
// "dnn/…".
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/nn/feature_column.h"
#include "sextant/nn/layers.h"

namespace sextant::models {

struct WideDeepParams {
  std::vector<columns::FeatureColumn> linear_columns = {};  // none: no linear part
  std::vector<columns::FeatureColumn> deep_columns = {};    // none: no deep part
  std::vector<int64_t> hidden_units = {};
  layers::Activation activation = {};  // default: ReLU
  float dropout = 0;
  bool batch_norm = false;
  int64_t logits = 1;
  std::string sparse_combiner = "sum";
};

// [batch, logits]. Throws INVALID_ARGUMENT when there are no columns.
Output WideDeepLogits(const Features& features, const WideDeepParams& params, bool training);

// The trainable variables of one part: those whose names begin with "linear/" or "dnn/".
std::vector<Variable> TrainableIn(const std::string& scope);

}  // namespace sextant::models

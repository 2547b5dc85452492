#include "sextant/models/wide_deep.h"

#include "sextant/base/error.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/binary.h"

namespace sextant::models {
namespace {

Output DeepLogits(const Features& features, const WideDeepParams& params, bool training) {
  const VariableScope scope("dnn");
  Output x;
  {
    const VariableScope inputs("input_from_feature_columns");
    x = columns::InputLayer(features, params.deep_columns);
  }
  const layers::Activation activation = params.activation ? params.activation : Relu;
  for (size_t i = 0; i < params.hidden_units.size(); ++i) {
    const std::string name = "hiddenlayer_" + std::to_string(i);
    x = layers::Dense(x, {.units = params.hidden_units[i], .activation = activation, .name = name});
    x = layers::Dropout(x, {.rate = params.dropout, .training = training});
    if (params.batch_norm) {
      x = layers::BatchNorm(x, {.training = training,
                                .momentum = 0.999f,
                                .name = name + "/batchnorm_" + std::to_string(i)});
    }
  }
  return layers::Dense(x, {.units = params.logits, .name = "logits"});
}

Output LinearLogits(const Features& features, const WideDeepParams& params) {
  const VariableScope scope("linear");
  return columns::LinearModel(features, params.linear_columns,
                              {.units = params.logits, .sparse_combiner = params.sparse_combiner});
}

}  // namespace

Output WideDeepLogits(const Features& features, const WideDeepParams& params, bool training) {
  const bool deep = !params.deep_columns.empty(), wide = !params.linear_columns.empty();
  if (!deep && !wide) throw InvalidArgument("a wide and deep model needs feature columns");
  if (!wide) return DeepLogits(features, params, training);
  if (!deep) return LinearLogits(features, params);
  const Output deep_logits = DeepLogits(features, params, training);
  return deep_logits + LinearLogits(features, params);
}

std::vector<Variable> TrainableIn(const std::string& scope) {
  std::vector<Variable> found;
  for (const Variable& variable : CollectedVariables(kTrainableVariables)) {
    if (variable.name().starts_with(scope + "/")) found.push_back(variable);
  }
  return found;
}

}  // namespace sextant::models

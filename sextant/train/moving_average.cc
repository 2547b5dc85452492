#include "sextant/train/moving_average.h"

#include "sextant/base/error.h"
#include "sextant/graph/replica.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/unary.h"

namespace sextant::train {
namespace {

// The value that a variable's initializer stores.
Output InitialValue(const Variable& variable) {
  const Operation initializer = variable.initializer();
  if (!initializer) {
    throw FailedPrecondition("variable '{}' has no initial value to average from", variable.name());
  }
  return initializer.node()->input(1);
}

}  // namespace

std::string MovingAverage::AverageName(const Variable& variable) const {
  return variable.name() + "/" + options_.name;
}

Variable MovingAverage::Average(const Variable& variable) const {
  const auto it = shadows_.find(variable.name());
  return it == shadows_.end() ? Variable() : it->second;
}

Operation MovingAverage::Apply(const std::vector<Variable>& variables) {
  if (Replica* replica = Replica::Current()) {
    // Once for all replicas, which share the variables and their shadows.
    using Applied = std::pair<Operation, std::map<std::string, Variable>>;
    const std::function<Applied(const std::vector<std::vector<Variable>>&)> apply =
        [this](const auto& all) { return Applied(Apply(all[0]), shadows_); };
    const Applied applied = replica->Merge("a moving average", variables, apply);
    shadows_ = applied.second;
    return applied.first;
  }
  for (const Variable& variable : variables) {
    if (shadows_.contains(variable.name())) continue;
    const NameScope root("");
    const VariableOptions options{.trainable = false};
    const Output initial = InitialValue(variable);
    shadows_[variable.name()] = options_.zero_debias
                                    ? Variable(AverageName(variable), ZerosLike(initial), options)
                                    : Variable(AverageName(variable), initial, options);
  }
  const NameScope scope(options_.name);
  Output decay = Const(Tensor(options_.decay), "decay");
  if (options_.num_updates) {
    const Output updates = Cast(options_.num_updates.value(), DType::kFloat);
    decay = Minimum(decay, (1.0 + updates) / (10.0 + updates));
  }
  std::vector<Operation> moves;
  for (const Variable& variable : variables) {
    const Variable& shadow = shadows_.at(variable.name());
    const NameScope inside("AssignMovingAvg");
    Output rate = 1.0 - decay;
    if (rate.dtype() != variable.dtype()) rate = Cast(rate, variable.dtype());
    if (!options_.zero_debias) {
      moves.push_back(OpBuilder("AssignSubVariableOp")
                          .Input(shadow.handle())
                          .Input((shadow.value() - variable.value()) * rate)
                          .BuildOperation());
      continue;
    }
    // The average of zeros and values, kept beside the shadow, over the share of values in it.
    const NameScope root("");
    const VariableOptions options{.trainable = false};
    const std::string base = AverageName(variable);
    const Variable biased(base + "/biased", ZerosLike(InitialValue(variable)), options);
    const Variable step(base + "/local_step", Const(Tensor(0.0f)), options);
    const Output new_biased = biased.AssignSub((biased.value() - variable.value()) * rate);
    const Output new_step = step.AssignAdd(Const(Tensor(1.0f)));
    Output share = 1.0 - Pow(1.0 - (1.0 - decay), new_step);
    if (share.dtype() != variable.dtype()) share = Cast(share, variable.dtype());
    moves.push_back(AssignVariable(shadow.handle(), new_biased / share));
  }
  return Group(moves, "group");
}

std::map<std::string, Variable> MovingAverage::VariablesToRestore(
    const std::vector<Variable>& variables) const {
  std::map<std::string, Variable> result;
  for (const Variable& variable : variables) {
    result[shadows_.contains(variable.name()) ? AverageName(variable) : variable.name()] = variable;
  }
  return result;
}

}  // namespace sextant::train

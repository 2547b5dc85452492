#include "benchmarks/models/optimizers.h"

#include "sextant/sextant.h"

namespace sextant::bench {
namespace {

Variable Slot(const Variable& variable, const char* name) {
  return Variable(variable.name() + "/" + name, Zeros(variable.shape().AsShape(), variable.dtype()),
                  {.trainable = false});
}

std::vector<Gradient> GradientsOf(Output loss, const std::vector<Variable>& variables) {
  std::vector<Output> handles;
  for (const Variable& variable : variables) handles.push_back(variable.handle());
  return Gradients(loss, handles);
}

// The same slices with every row once.
IndexedSlices AddUpRows(const IndexedSlices& slices) {
  const UniqueOutputs rows = Unique(slices.indices);
  const Output count = Squeeze(ShapeOf(rows.y));
  return {.values = UnsortedSegmentSum(slices.values, rows.index, count),
          .indices = rows.y,
          .dense_shape = slices.dense_shape};
}

}  // namespace

Operation MinimizeByMomentum(Output loss, const std::vector<Variable>& variables, float rate,
                             float momentum) {
  const std::vector<Gradient> gradients = GradientsOf(loss, variables);
  const Output rate_value = Const(Tensor(rate)), momentum_value = Const(Tensor(momentum));
  std::vector<Operation> updates;
  for (size_t i = 0; i < variables.size(); ++i) {
    const Output handle = variables[i].handle(), slot = Slot(variables[i], "Momentum").handle();
    if (gradients[i].sparse()) {
      const IndexedSlices rows = AddUpRows(gradients[i].slices());
      updates.push_back(ResourceSparseApplyMomentum(handle, slot, rate_value, rows.values,
                                                    rows.indices, momentum_value));
    } else {
      updates.push_back(
          ResourceApplyMomentum(handle, slot, rate_value, gradients[i].dense(), momentum_value));
    }
  }
  return Group(updates);
}

Operation MinimizeByAdam(Output loss, const std::vector<Variable>& variables, float rate) {
  const std::vector<Gradient> gradients = GradientsOf(loss, variables);
  const float beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
  const Output beta1_value = Const(Tensor(beta1)), beta2_value = Const(Tensor(beta2));
  const Variable power1("beta1_power", Tensor(beta1), {.trainable = false});
  const Variable power2("beta2_power", Tensor(beta2), {.trainable = false});
  const Output rate_value = Const(Tensor(rate)), epsilon_value = Const(Tensor(epsilon));
  std::vector<Operation> updates;
  for (size_t i = 0; i < variables.size(); ++i) {
    updates.push_back(ResourceApplyAdam(variables[i].handle(), Slot(variables[i], "Adam").handle(),
                                        Slot(variables[i], "Adam_1").handle(), power1, power2,
                                        rate_value, beta1_value, beta2_value, epsilon_value,
                                        gradients[i].dense()));
  }
  const Output next1 = power1 * beta1_value, next2 = power2 * beta2_value;
  const ControlDependencies after(updates);
  return Group({AssignVariable(power1.handle(), next1), AssignVariable(power2.handle(), next2)});
}

}  // namespace sextant::bench

#include "sextant/train/optimizer.h"

#include <fmt/format.h>

#include <optional>

#include "sextant/base/error.h"
#include "sextant/graph/attachment.h"
#include "sextant/graph/gradient_mark.h"
#include "sextant/graph/replica.h"
#include "sextant/graph/update_mark.h"
#include "sextant/nn/get_variable.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/unique.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/segment.h"
#include "sextant/train/optimizer_impl.h"
#include "sextant/train/replica_gradients.h"

namespace sextant::train {
namespace {

// (optimizer, variable, key) → the slot's handle.
using SlotTable = std::map<std::tuple<const OptimizerImpl*, std::string, std::string>, Output>;

SlotTable& Slots(const Graph& graph) { return *AttachedTo<SlotTable>(graph, "optimizer slots"); }

}  // namespace

IndexedSlices AddUpRows(const IndexedSlices& slices) {
  const UniqueOutputs rows = Unique(slices.indices);
  const Output count = Squeeze(ShapeOf(rows.y));
  return {.values = UnsortedSegmentSum(slices.values, rows.index, count),
          .indices = rows.y,
          .dense_shape = slices.dense_shape};
}

Output LearningRate::Build(Output global_step) const {
  if (!build_) return Const(Tensor(static_cast<float>(value_)), "learning_rate");
  if (!global_step) {
    throw InvalidArgument("a learning rate schedule needs a global step; give one to Minimize");
  }
  return build_(global_step);
}

Variable UpdateContext::Slot(const Variable& variable, std::string_view key,
                             const Initializer& initializer) {
  Graph& graph = variable.handle().graph();
  Output& handle = Slots(graph)[{&optimizer_, variable.name(), std::string(key)}];
  if (handle) return Variable::FromHandle(handle);
  // TensorFlow puts the open variable scope in front, even though the variable's name has it
  // already.
  const std::string name = VariableScope::CurrentName() + variable.name() + "/" + optimizer_.name();
  const NameScope root("");
  const DeviceScope beside(variable.handle().node()->device());
  const Variable slot(name,
                      [&] { return initializer(variable.shape().AsShape(), variable.dtype()); },
                      {.trainable = false});
  handle = slot.handle();
  if (const VariableSlice* slice = SliceOf(variable)) {
    VariableSlice own = *slice;
    own.full_name += "/" + slot.name().substr(variable.name().size() + 1);
    SetSlice(slot, own);
  }
  return slot;
}

Output UpdateContext::Number(std::string_view name, double value, DType dtype) {
  Output& number = numbers_[{std::string(name), dtype}];
  if (!number) {
    const NameScope root("");
    // TensorFlow's hyper-parameters are floats, whatever the variable's type.
    number =
        Const(Tensor(static_cast<float>(value)), fmt::format("{}/{}", optimizer_.name(), name));
    if (dtype != DType::kFloat) number = Cast(number, dtype);
  }
  return number;
}

Output UpdateContext::Rate(const LearningRate& rate, DType dtype) {
  if (rate.constant()) return Number("learning_rate", rate.value(), dtype);
  Output& number = numbers_[{"learning_rate", dtype}];
  if (!number) {
    Output& built = numbers_[{"learning_rate schedule", DType::kInvalid}];
    if (!built) built = rate.Build(global_step_ ? global_step_.value() : Output());
    number = built.dtype() == dtype ? built : Cast(built, dtype);
  }
  return number;
}

Variable UpdateContext::Scalar(std::string_view name, double initial) {
  Output& handle = Slots(graph_)[{&optimizer_, "", std::string(name)}];
  if (handle) return Variable::FromHandle(handle);
  // Beside the step, which too is changed after all updates.
  std::optional<DeviceScope> beside;
  if (global_step_) beside.emplace(global_step_.handle().node()->device());
  const Variable variable(name, Tensor(static_cast<float>(initial)), {.trainable = false});
  handle = variable.handle();
  return variable;
}

const std::string& Optimizer::name() const { return impl_->name(); }
std::vector<std::string> Optimizer::SlotKeys() const { return impl_->SlotKeys(); }

Variable Optimizer::Slot(const Variable& variable, std::string_view key) const {
  const SlotTable& slots = Slots(variable.handle().graph());
  const auto it = slots.find({&impl_->slot_owner(), variable.name(), std::string(key)});
  return it == slots.end() ? Variable() : Variable::FromHandle(it->second);
}

std::vector<GradientAndVariable> Optimizer::ComputeGradients(
    Output loss, const std::vector<Variable>& variables) const {
  const std::vector<Variable> all =
      variables.empty() ? CollectedVariables(kTrainableVariables) : variables;
  if (all.empty()) throw InvalidArgument("there are no trainable variables to optimise");
  std::vector<Output> handles;
  for (const Variable& variable : all) handles.push_back(variable.handle());
  const std::vector<Gradient> gradients = Gradients(loss, handles);
  std::vector<GradientAndVariable> result;
  for (size_t i = 0; i < all.size(); ++i) result.push_back({gradients[i], all[i]});
  return MergeGradients(result);
}

Operation Optimizer::ApplyGradients(const std::vector<GradientAndVariable>& gradients,
                                    const Variable& global_step, std::string_view name) const {
  if (!impl_) throw InvalidArgument("the optimizer is empty; make one, e.g. train::Adam()");
  if (Replica* replica = Replica::Current()) {
    const std::function<Operation(const std::vector<std::vector<GradientAndVariable>>&)> apply =
        [&, loss = replica->loss_reduction()](const auto& all) {
          return ApplyGradients(CombineGradients(all, loss, replica->options()), global_step, name);
        };
    return replica->Merge("an update by " + impl_->name(), gradients, apply);
  }
  return impl_->Apply(impl_->marks_gradients() ? gradients : MarkInScope(gradients), global_step,
                      name);
}

Operation PerVariableOptimizer::Apply(const std::vector<GradientAndVariable>& gradients,
                                      const Variable& global_step, std::string_view name) const {
  UpdateContext context(*this, global_step);
  PrepareAll(context, gradients);
  return ApplyPrepared(context, gradients, name.empty() ? this->name() : name);
}

Operation PerVariableOptimizer::ApplyPrepared(UpdateContext& context,
                                              const std::vector<GradientAndVariable>& gradients,
                                              std::string_view name) const {
  Graph& graph = CurrentGraph();
  const int first = graph.num_nodes();
  const NameScope scope(name);
  const Operation all = FinishAll(context, UpdateSome(context, gradients));
  MarkUpdatesSince(graph, first);
  return all;
}

void PerVariableOptimizer::PrepareAll(UpdateContext& context,
                                      const std::vector<GradientAndVariable>& gradients) const {
  int used = 0;
  for (const auto& [gradient, variable] : gradients) {
    if (gradient.none()) continue;
    ++used;
    Prepare(context, variable);
  }
  if (used == 0) {
    throw InvalidArgument(
        "no gradient reaches any of the {} variables: does the loss depend on them?",
        gradients.size());
  }
}

std::vector<Operation> PerVariableOptimizer::UpdateSome(
    UpdateContext& context, const std::vector<GradientAndVariable>& gradients) const {
  std::vector<Operation> updates;
  for (const auto& [gradient, variable] : gradients) {
    if (gradient.none()) continue;
    const NameScope inside("update_" + variable.name());
    // Equal rows are added up where the gradient is: fewer travel to the variable. Those of several
    // workers meet there.
    const bool marked = gradient.sparse() && IsGradientMark(*gradient.slices().values.node());
    IndexedSlices rows;
    if (gradient.sparse()) rows = marked ? gradient.slices() : AddUpRows(gradient.slices());
    const DeviceScope beside(variable.handle().node()->device());
    if (marked) rows = AddUpRows(rows);
    updates.push_back(gradient.sparse() ? UpdateRows(context, variable, rows)
                                        : Update(context, variable, gradient.dense()));
  }
  return updates;
}

Operation PerVariableOptimizer::FinishAll(UpdateContext& context,
                                          std::vector<Operation> updates) const {
  const Variable& global_step = context.global_step();
  // Beside the step, so that all that follows the updates is one call where that is on a server.
  std::optional<DeviceScope> beside_step;
  if (global_step) beside_step.emplace(global_step.handle().node()->device());
  {
    const ControlDependencies after(updates);
    for (const Operation& last : Finish(context)) updates.push_back(last);
  }
  if (!global_step) return Group(updates, "group");
  const Operation all = Group(updates, "update");
  const ControlDependencies after({all});
  const Output one = Cast(Const(Tensor(int64_t{1})), global_step.dtype());
  const Operation counted = OpBuilder("AssignAddVariableOp")
                                .Input(global_step.handle())
                                .Input(one)
                                .Name("AssignAddVariableOp")
                                .BuildOperation();
  SetUpdateMark(CurrentGraph(), counted.node(), UpdateMark::kCount);
  return counted;
}

Operation Optimizer::Minimize(Output loss, const MinimizeOptions& options) const {
  std::vector<GradientAndVariable> gradients = ComputeGradients(loss, options.variables);
  if (options.transform) gradients = options.transform(std::move(gradients));
  return ApplyGradients(gradients, options.global_step, options.name);
}

}  // namespace sextant::train

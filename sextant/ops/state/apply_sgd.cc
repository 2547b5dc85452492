#include "sextant/ops/state/apply_sgd.h"

#include <string>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/state/number_types.h"

namespace sextant {
namespace {

constexpr const char* kEffect = "changes a variable instead of giving a value";

// The shape of the variable at input i, whether that is a handle or a reference.
PartialShape VariableShapeAt(ShapeContext& c, int i) {
  if (RemoveRef(c.node().input(i).dtype()) != DType::kResource) return c.input(i);
  const HandleShape* handle = c.input_handle(i);
  return handle != nullptr ? handle->shape : PartialShape();
}

void SetResult(ShapeContext& c, const PartialShape& shape) {
  if (c.num_outputs() > 0) c.set_output(0, shape);
}

void GradientDescentShape(ShapeContext& c) {
  c.InputOfRank(1, 0);
  SetResult(c, VariableShapeAt(c, 0).MergeWith(c.input(2)));
}

void MomentumShape(ShapeContext& c) {
  c.InputOfRank(2, 0);
  c.InputOfRank(4, 0);
  SetResult(c, VariableShapeAt(c, 0).MergeWith(VariableShapeAt(c, 1)).MergeWith(c.input(3)));
}

void SparseMomentumShape(ShapeContext& c) {
  c.InputOfRank(2, 0);
  c.InputOfRank(4, 1);
  c.InputOfRank(5, 0);
  SetResult(c, VariableShapeAt(c, 0).MergeWith(VariableShapeAt(c, 1)));
}

Operation Momentum(const char* op, const std::vector<Output>& inputs, bool use_nesterov) {
  OpBuilder builder(op);
  for (const Output& input : inputs) builder.Input(input);
  return builder.Attr("use_nesterov", use_nesterov).BuildOperation();
}

// Adds the op on handles and, where there is one, the op on references.
void AddOp(OpRegistry& registry, const std::string& name, const std::string& variables,
           const std::string& inputs, const std::string& attrs, const char* doc,
           void (*shape)(ShapeContext&), bool on_refs) {
  const auto define = [&](const std::string& op, const std::string& type) {
    std::string args;
    for (const char variable : variables) {
      args += (variable == 'v' ? "var:" : "accum:") + type + ", ";
    }
    return OpDef(op)
        .Inputs(args + inputs)
        .Attrs(attrs)
        .Doc(doc)
        .Shape(shape)
        .NotDifferentiable(kEffect);
  };
  registry.Add(define("Resource" + name, "resource").Stateful());
  if (on_refs) registry.Add(define(name, "ref(T)").Outputs("out:ref(T)").Structural());
}

}  // namespace

Operation ResourceApplyGradientDescent(Output var, Output alpha, Output delta) {
  return OpBuilder("ResourceApplyGradientDescent")
      .Input(var)
      .Input(alpha)
      .Input(delta)
      .BuildOperation();
}
Operation ResourceApplyMomentum(Output var, Output accum, Output lr, Output grad, Output momentum,
                                const ApplyMomentumOptions& options) {
  return Momentum("ResourceApplyMomentum", {var, accum, lr, grad, momentum}, options.use_nesterov);
}
Operation ResourceSparseApplyMomentum(Output var, Output accum, Output lr, Output grad,
                                      Output indices, Output momentum,
                                      const ApplyMomentumOptions& options) {
  return Momentum("ResourceSparseApplyMomentum", {var, accum, lr, grad, indices, momentum},
                  options.use_nesterov);
}
Operation ResourceApplyKerasMomentum(Output var, Output accum, Output lr, Output grad,
                                     Output momentum, const ApplyMomentumOptions& options) {
  return Momentum("ResourceApplyKerasMomentum", {var, accum, lr, grad, momentum},
                  options.use_nesterov);
}
Operation ResourceSparseApplyKerasMomentum(Output var, Output accum, Output lr, Output grad,
                                           Output indices, Output momentum,
                                           const ApplyMomentumOptions& options) {
  return Momentum("ResourceSparseApplyKerasMomentum", {var, accum, lr, grad, indices, momentum},
                  options.use_nesterov);
}

void RegisterApplySgd(OpRegistry& registry) {
  const std::string type = std::string("T:type in [") + kNumberTypes + "]; ";
  const std::string index = "Tindices:type in [int32,int64]; ";
  const std::string locking = "use_locking:bool=False";
  const std::string flags = locking + "; use_nesterov:bool=False";
  AddOp(registry, "ApplyGradientDescent", "v", "alpha:T, delta:T", type + locking,
        "Subtracts alpha times delta from a variable.", GradientDescentShape, true);
  AddOp(registry, "ApplyMomentum", "va", "lr:T, grad:T, momentum:T", type + flags,
        "One step of gradient descent with momentum.", MomentumShape, true);
  AddOp(registry, "SparseApplyMomentum", "va", "lr:T, grad:T, indices:Tindices, momentum:T",
        type + index + flags, "One step with momentum for some rows.", SparseMomentumShape, true);
  AddOp(registry, "ApplyKerasMomentum", "va", "lr:T, grad:T, momentum:T", type + flags,
        "One step with momentum, the learning rate being part of the velocity.", MomentumShape,
        false);
  AddOp(registry, "SparseApplyKerasMomentum", "va", "lr:T, grad:T, indices:Tindices, momentum:T",
        type + index + flags,
        "One step for some rows, the learning rate being part of the velocity.",
        SparseMomentumShape, false);
}

}  // namespace sextant

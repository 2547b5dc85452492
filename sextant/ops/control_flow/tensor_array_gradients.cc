#include "sextant/ops/control_flow/tensor_array_gradients.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/control_flow/tensor_array.h"

namespace sextant {

namespace {

// The gradient array, made once the forward write that gave "after" is done: its size is then
// final. A backward loop starts after all forward writes anyway.
TensorArrayOutputs GradientArray(Output handle, Output flow, Output after) {
  if (&after.graph() == &CurrentGraph()) flow = OpBuilder("IdentityN").Input({flow, after}).Build();
  return TensorArrayGradV3(handle, flow, GradientSource());
}

}  // namespace

void TensorArrayReadGradient(GradientContext& c) {
  const TensorArrayOutputs g = TensorArrayGradV3(c.input(0), c.input(2), GradientSource());
  c.set(2, TensorArrayWriteV3(g.handle, c.input(1), c.grad(), g.flow));
}

void TensorArrayWriteGradient(GradientContext& c) {
  const Output flow = c.grad();
  const TensorArrayOutputs g = GradientArray(c.input(0), flow, c.output(0));
  c.set(2, TensorArrayReadV3(g.handle, c.input(1), g.flow, c.attr<DType>("T")));
  c.set(3, flow);
}

void TensorArrayGatherGradient(GradientContext& c) {
  const TensorArrayOutputs g = TensorArrayGradV3(c.input(0), c.input(2), GradientSource());
  c.set(2, TensorArrayScatterV3(g.handle, c.input(1), c.grad(), g.flow));
}

void TensorArrayScatterGradient(GradientContext& c) {
  const Output flow = c.grad();
  const TensorArrayOutputs g = GradientArray(c.input(0), flow, c.output(0));
  c.set(2, TensorArrayGatherV3(g.handle, c.input(1), g.flow, c.attr<DType>("T")));
  c.set(3, flow);
}

void TensorArrayConcatGradient(GradientContext& c) {
  const TensorArrayOutputs g = TensorArrayGradV3(c.input(0), c.input(1), GradientSource());
  c.set(1, TensorArraySplitV3(g.handle, c.grad(), c.output(1), g.flow));
}

void TensorArraySplitGradient(GradientContext& c) {
  const Output flow = c.grad();
  const TensorArrayOutputs g = GradientArray(c.input(0), flow, c.output(0));
  c.set(1, TensorArrayConcatV3(g.handle, g.flow, c.attr<DType>("T")).value);
  c.set(3, flow);
}

}  // namespace sextant

#include "sextant/ops/math/broadcast_gradient.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/shape.h"

namespace sextant {

Output SumToShapeOf(Output x, Output other, Output gradient) {
  const PartialShape& a = x.shape();
  const PartialShape& b = other.shape();
  if (a.fully_known() && b.fully_known() && shapes::Broadcast(a, b) == a) return gradient;
  const Output shape = ShapeOf(x);
  const Output axes = OpBuilder("BroadcastGradientArgs").Input(shape).Input(ShapeOf(other)).Build();
  const Output sum = OpBuilder("Sum").Input(gradient).Input(axes).Build();
  return OpBuilder("Reshape").Input(sum).Input(shape).Build();
}

void SetBroadcastGradients(GradientContext& c, Output grad_x, Output grad_y) {
  if (c.wanted(0)) c.set(0, SumToShapeOf(c.input(0), c.input(1), grad_x));
  if (c.wanted(1)) c.set(1, SumToShapeOf(c.input(1), c.input(0), grad_y));
}

}  // namespace sextant

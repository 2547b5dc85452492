#include "sextant/ops/math/select.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/broadcast_gradient.h"

namespace sextant {
namespace {

void SelectShape(ShapeContext& c) {
  const PartialShape merged = c.input(1).MergeWith(c.input(2));
  c.set_output(0, merged);
  const PartialShape& condition = c.input(0);
  if (!condition.rank_known() || !merged.rank_known() || condition.rank() == 0) return;
  if (condition.rank() == 1 && merged.rank() > 0) {
    PartialShape rows = merged;
    rows.set_dim(0, merged.MergeWith([&] {
      PartialShape first = PartialShape::UnknownOfRank(merged.rank());
      first.set_dim(0, condition[0]);
      return first;
    }())[0]);
    return c.set_output(0, rows);
  }
  c.set_output(0, merged.MergeWith(condition));
}

void SelectV2Shape(ShapeContext& c) {
  c.set_output(0, shapes::Broadcast(c.input(0), shapes::Broadcast(c.input(1), c.input(2))));
}

void SelectGradient(GradientContext& c) {
  const Output condition = c.input(0), zero = ZerosLike(c.input(1));
  c.set(1, Select(condition, c.grad(), zero));
  c.set(2, Select(condition, zero, c.grad()));
}

void SelectV2Gradient(GradientContext& c) {
  const Output condition = c.input(0), zero = ZerosLike(c.grad());
  // What t and e were broadcast to is the shape of the result.
  const auto chosen = [&](int i, Output gradient) {
    if (c.wanted(i)) c.set(i, SumToShapeOf(c.input(i), c.output(0), gradient));
  };
  chosen(1, SelectV2(condition, c.grad(), zero));
  chosen(2, SelectV2(condition, zero, c.grad()));
}

}  // namespace

Output SelectV2(Output condition, Output t, Output e) {
  return OpBuilder("SelectV2").Input(condition).Input(t).Input(e).Build();
}
Output Select(Output condition, Output t, Output e) {
  return OpBuilder("Select").Input(condition).Input(t).Input(e).Build();
}

void RegisterSelect(OpRegistry& registry) {
  registry.Add(OpDef("Select")
                   .Inputs("condition:bool, t:T, e:T")
                   .Outputs("output:T")
                   .Attrs("T:type")
                   .Doc("t where the condition holds, else e. A scalar condition chooses all, a "
                        "vector the rows of the first dimension.")
                   .Shape(SelectShape)
                   .Gradient(SelectGradient));
  registry.Add(OpDef("SelectV2")
                   .Inputs("condition:bool, t:T, e:T")
                   .Outputs("output:T")
                   .Attrs("T:type")
                   .Doc("t where the condition holds, else e, with broadcasting.")
                   .Shape(SelectV2Shape)
                   .Gradient(SelectV2Gradient));
}

}  // namespace sextant

#include "sextant/ops/array/unique.h"

#include <string>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void UniqueShape(ShapeContext& c) {
  c.set_output(0, PartialShape::UnknownOfRank(1));
  c.set_output(1, c.InputOfRank(0, 1));
  if (c.num_outputs() == 3) c.set_output(2, PartialShape::UnknownOfRank(1));
}

void UniqueV2Shape(ShapeContext& c) {
  PartialShape shape = c.input(0);
  int64_t length = PartialShape::kUnknown;
  const auto axes = c.InputInts(1);
  if (shape.rank_known() && axes && axes->size() <= 1 && shape.rank() > 0) {
    const int axis = axes->empty() ? 0 : shapes::NormalizeAxis((*axes)[0], shape.rank());
    length = shape[axis];
    shape.set_dim(axis, PartialShape::kUnknown);
  } else if (shape.rank_known()) {
    shape = PartialShape::UnknownOfRank(shape.rank());
  }
  c.set_output(0, std::move(shape));
  c.set_output(1, {length});
  if (c.num_outputs() == 3) c.set_output(2, PartialShape::UnknownOfRank(1));
}

const char* const kAttrs = "T:type; out_idx:type=int32 in [int32,int64]";
const char* const kAxisAttrs =
    "T:type; Taxis:type=int64 in [int32,int64]; out_idx:type=int32 in [int32,int64]";
const char* const kNoGradient = "which elements are distinct changes in jumps";

}  // namespace

UniqueOutputs Unique(Output x, DType out_idx) {
  const auto out = OpBuilder("Unique").Input(x).Attr("out_idx", out_idx).BuildAll();
  return {out[0], out[1], {}};
}
UniqueOutputs UniqueWithCounts(Output x, DType out_idx) {
  const auto out = OpBuilder("UniqueWithCounts").Input(x).Attr("out_idx", out_idx).BuildAll();
  return {out[0], out[1], out[2]};
}
ListDiffOutputs ListDiff(Output x, Output y, DType out_idx) {
  const auto out = OpBuilder("ListDiff").Input(x).Input(y).Attr("out_idx", out_idx).BuildAll();
  return {out[0], out[1]};
}

void RegisterUnique(OpRegistry& registry) {
  registry.Add(OpDef("Unique")
                   .Inputs("x:T")
                   .Outputs("y:T, idx:out_idx")
                   .Attrs(kAttrs)
                   .Doc("The distinct elements of a vector in the order they first occur, and for "
                        "each element which one it is.")
                   .Shape(UniqueShape)
                   .NotDifferentiable(kNoGradient));
  registry.Add(OpDef("UniqueWithCounts")
                   .Inputs("x:T")
                   .Outputs("y:T, idx:out_idx, count:out_idx")
                   .Attrs(kAttrs)
                   .Doc("As Unique, with the number of times each distinct element occurs.")
                   .Shape(UniqueShape)
                   .NotDifferentiable(kNoGradient));
  registry.Add(OpDef("UniqueV2")
                   .Inputs("x:T, axis:Taxis")
                   .Outputs("y:T, idx:out_idx")
                   .Attrs(kAxisAttrs)
                   .Doc("The distinct slices along an axis, given as a vector of one element; an "
                        "empty one means the elements of a vector.")
                   .Shape(UniqueV2Shape)
                   .NotDifferentiable(kNoGradient));
  registry.Add(OpDef("UniqueWithCountsV2")
                   .Inputs("x:T, axis:Taxis")
                   .Outputs("y:T, idx:out_idx, count:out_idx")
                   .Attrs(kAxisAttrs)
                   .Doc("As UniqueV2, with the number of times each distinct slice occurs.")
                   .Shape(UniqueV2Shape)
                   .NotDifferentiable(kNoGradient));
  registry.Add(OpDef("ListDiff")
                   .Inputs("x:T, y:T")
                   .Outputs("out:T, idx:out_idx")
                   .Attrs(kAttrs)
                   .Doc("The elements of the vector x that are not in y, in order, and their "
                        "positions.")
                   .Shape([](ShapeContext& c) {
                     c.InputOfRank(0, 1);
                     c.InputOfRank(1, 1);
                     for (int i = 0; i < 2; ++i) c.set_output(i, PartialShape::UnknownOfRank(1));
                   })
                   .NotDifferentiable(kNoGradient));
}

}  // namespace sextant

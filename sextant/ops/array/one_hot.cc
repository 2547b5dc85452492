#include "sextant/ops/array/one_hot.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"

namespace sextant {
namespace {

void OneHotShape(ShapeContext& c) {
  for (int i = 1; i < 4; ++i) c.InputOfRank(i, 0);
  const auto depth = c.InputInt(1);
  if (depth && *depth < 0) throw InvalidArgument("depth must be non-negative, got: {}", *depth);
  PartialShape shape = c.input(0);
  if (shape.rank_known()) {
    const int64_t axis = c.attr<int64_t>("axis");
    if (axis < -1 || axis > shape.rank()) {
      throw InvalidArgument("Expected axis to be -1 or between [0, {}], but got {}", shape.rank(),
                            axis);
    }
    shape.Insert(axis < 0 ? shape.rank() : static_cast<int>(axis),
                 depth.value_or(PartialShape::kUnknown));
  }
  c.set_output(0, std::move(shape));
}

}  // namespace

Output OneHot(Output indices, const IndexArg& depth, const OneHotOptions& options) {
  const Output zero = Const(Tensor::Zeros(options.dtype, Shape()));
  return OneHot(indices, depth, OnesLike(zero), zero, options.axis);
}
Output OneHot(Output indices, const IndexArg& depth, Output on_value, Output off_value,
              int64_t axis) {
  return OpBuilder("OneHot")
      .Input(indices)
      .Input(depth.ToOutput(DType::kInt32))
      .Input(on_value)
      .Input(off_value)
      .Attr("axis", axis)
      .Build();
}

void RegisterOneHot(OpRegistry& registry) {
  registry.Add(OpDef("OneHot")
                   .Inputs("indices:TI, depth:int32, on_value:T, off_value:T")
                   .Outputs("output:T")
                   .Attrs("axis:int=-1; T:type; TI:type=int64 in [uint8,int8,int32,int64]")
                   .Doc("on_value where the position along a new dimension of size depth equals "
                        "the index, off_value elsewhere.")
                   .Shape(OneHotShape)
                   .NotDifferentiable("depends on integer indices"));
}

}  // namespace sextant

#include "sextant/ops/array/strided_slice.h"

#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice_spec.h"

namespace sextant {
namespace {

const char* const kMaskAttrs =
    "; begin_mask:int=0; end_mask:int=0; ellipsis_mask:int=0; new_axis_mask:int=0; "
    "shrink_axis_mask:int=0";

StridedSliceOptions OptionsOf(const Node& node) {
  const StridedSliceMasks masks = StridedSliceMasks::Of(node);
  return {masks.begin, masks.end, masks.ellipsis, masks.new_axis, masks.shrink_axis};
}

OpBuilder& SetMasks(OpBuilder& builder, const StridedSliceOptions& options) {
  return builder.Attr("begin_mask", options.begin_mask)
      .Attr("end_mask", options.end_mask)
      .Attr("ellipsis_mask", options.ellipsis_mask)
      .Attr("new_axis_mask", options.new_axis_mask)
      .Attr("shrink_axis_mask", options.shrink_axis_mask);
}

void StridedSliceShape(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  const PartialShape count =
      c.InputOfRank(1, 1).MergeWith(c.InputOfRank(2, 1)).MergeWith(c.InputOfRank(3, 1));
  if (!input.rank_known() || count[0] == PartialShape::kUnknown) {
    return c.set_output(0, PartialShape());
  }
  const auto begin = c.InputInts(1), end = c.InputInts(2), strides = c.InputInts(3);
  StridedSliceSpec spec;
  spec.Set({static_cast<int>(count[0]), begin ? begin->data() : nullptr,
            end ? end->data() : nullptr, strides ? strides->data() : nullptr},
           StridedSliceMasks::Of(c.node()), input.dims());
  c.set_output(0, PartialShape(spec.result));
}

Output Grad(Output shape, const GradientContext& c, Output grad) {
  OpBuilder builder("StridedSliceGrad");
  builder.Input(shape).Input(c.input(1)).Input(c.input(2)).Input(c.input(3)).Input(grad);
  return SetMasks(builder, OptionsOf(*c.node())).Build();
}

void StridedSliceGradient(GradientContext& c) {
  const DType index = c.input(1).dtype() == DType::kInt16 ? DType::kInt32 : c.input(1).dtype();
  if (index == c.input(1).dtype()) {
    return c.set(0, Grad(ShapeOf(c.input(0), index), c, c.grad()));
  }
  const auto widen = [](Output x) {
    return OpBuilder("Cast").Input(x).Attr("DstT", DType::kInt32).Build();
  };
  OpBuilder builder("StridedSliceGrad");
  builder.Input(ShapeOf(c.input(0)));
  for (int i = 1; i < 4; ++i) builder.Input(widen(c.input(i)));
  builder.Input(c.grad());
  c.set(0, SetMasks(builder, OptionsOf(*c.node())).Build());
}

Output SliceAgain(const GradientContext& c, Output x) {
  return StridedSlice(x, c.input(1), c.input(2), c.input(3), OptionsOf(*c.node()));
}

void StridedSliceUpdateGradient(GradientContext& c) {
  const Output grad = c.grad();
  OpBuilder zeroed("TensorStridedSliceUpdate");
  zeroed.Input(grad).Input(c.input(1)).Input(c.input(2)).Input(c.input(3));
  zeroed.Input(ZerosLike(c.input(4)));
  c.set(0, SetMasks(zeroed, OptionsOf(*c.node())).Build());
  c.set(4, Reshape(SliceAgain(c, grad), ShapeOf(c.input(4))));
}

}  // namespace

Output StridedSlice(Output x, const IndexArg& begin, const IndexArg& end, const IndexArg& strides,
                    const StridedSliceOptions& options) {
  const IndexArg* const args[] = {&begin, &end, &strides};
  const DType index = IndexArg::CommonType(args);
  OpBuilder builder("StridedSlice");
  builder.Input(x);
  for (const IndexArg* arg : args) builder.Input(arg->ToOutput(index));
  return SetMasks(builder, options).Build();
}

Output StridedSlice(Output x, const std::vector<SliceIndex>& indices) {
  std::vector<int64_t> begin, end, strides;
  StridedSliceOptions masks;
  for (size_t i = 0; i < indices.size(); ++i) {
    const SliceIndex& index = indices[i];
    const int64_t bit = int64_t{1} << i;
    if (index.kind == SliceIndex::Kind::kEllipsis) masks.ellipsis_mask |= bit;
    if (index.kind == SliceIndex::Kind::kNewAxis) masks.new_axis_mask |= bit;
    if (index.kind == SliceIndex::Kind::kAt) masks.shrink_axis_mask |= bit;
    if (index.kind == SliceIndex::Kind::kRange) {
      if (!index.begin) masks.begin_mask |= bit;
      if (!index.end) masks.end_mask |= bit;
    }
    begin.push_back(index.begin.value_or(0));
    // -1 + 1 = 0 would be the start: the end of a single index is not looked at.
    end.push_back(index.kind == SliceIndex::Kind::kAt ? begin.back() + 1 : index.end.value_or(0));
    strides.push_back(index.stride);
  }
  return StridedSlice(x, begin, end, strides, masks);
}

void RegisterStridedSlice(OpRegistry& registry) {
  registry.Add(OpDef("StridedSlice")
                   .Inputs("input:T, begin:Index, end:Index, strides:Index")
                   .Outputs("output:T")
                   .Attrs(std::string("T:type; Index:type in [int16,int32,int64]") + kMaskAttrs)
                   .Doc("input[begin[0]:end[0]:strides[0], ...] as Python slices. Bit i of a mask "
                        "says of index i: begin or end is not given, it stands for '...', for a "
                        "new axis, or for the single index begin[i] whose dimension disappears.")
                   .Shape(StridedSliceShape)
                   .Gradient(StridedSliceGradient));
  registry.Add(OpDef("StridedSliceGrad")
                   .Inputs("shape:Index, begin:Index, end:Index, strides:Index, dy:T")
                   .Outputs("output:T")
                   .Attrs(std::string("T:type; Index:type in [int32,int64]") + kMaskAttrs)
                   .Doc("Zeros of the given shape with dy put where StridedSlice takes its "
                        "elements from.")
                   .Shape(shapes::FromShapeInput)
                   .Gradient([](GradientContext& c) { c.set(4, SliceAgain(c, c.grad())); }));
  registry.Add(OpDef("TensorStridedSliceUpdate")
                   .Inputs("input:T, begin:Index, end:Index, strides:Index, value:T")
                   .Outputs("output:T")
                   .Attrs(std::string("T:type; Index:type in [int32,int64]") + kMaskAttrs)
                   .Doc("The input with the elements that StridedSlice takes replaced by value, "
                        "which is broadcast.")
                   .Shape(shapes::Unchanged)
                   .Gradient(StridedSliceUpdateGradient));
}

}  // namespace sextant

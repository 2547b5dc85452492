#include "sextant/ops/array/pad.h"

#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"

namespace sextant {
namespace {

// Adds (sign = 1) or takes away (-1) the paddings.
void PaddedShape(ShapeContext& c, int sign) {
  const PartialShape paddings = c.InputOfRank(1, 2);
  if (paddings[1] != PartialShape::kUnknown && paddings[1] != 2) {
    throw InvalidArgument("paddings must be of shape [rank, 2], got {}", paddings.ToString());
  }
  PartialShape shape = c.input(0);
  if (!shape.rank_known()) {
    if (paddings[0] == PartialShape::kUnknown) return c.set_output(0, PartialShape());
    shape = PartialShape::UnknownOfRank(static_cast<int>(paddings[0]));
  }
  if (paddings[0] != PartialShape::kUnknown && paddings[0] != shape.rank()) {
    throw InvalidArgument("{} pairs of paddings for a tensor of rank {}", paddings[0],
                          shape.rank());
  }
  const auto value = c.InputValue(1);
  if (!value) return c.set_output(0, PartialShape::UnknownOfRank(shape.rank()));
  const std::vector<int64_t> sizes = value->AsInt64s();
  for (int d = 0; d < shape.rank(); ++d) {
    const int64_t before = sizes[2 * d], after = sizes[2 * d + 1];
    if (before < 0 || after < 0) {
      throw InvalidArgument("Paddings must be non-negative: {} {}", before, after);
    }
    if (shape[d] == PartialShape::kUnknown) continue;
    int64_t border, size;
    if (__builtin_add_overflow(before, after, &border) ||
        __builtin_add_overflow(shape[d], sign * border, &size) || size < 0) {
      throw InvalidArgument("paddings {} and {} do not fit dimension {} of size {}", before, after,
                            d, shape[d]);
    }
    shape.set_dim(d, size);
  }
  c.set_output(0, std::move(shape));
}

void PadShape(ShapeContext& c) { PaddedShape(c, 1); }

// The part of the gradient that lies over x. Nothing flows to the value of the border.
void PadGradient(GradientContext& c) {
  const Output x = c.input(0), paddings = c.input(1);
  const DType index = paddings.dtype();
  const auto value = ConstantValue(paddings);
  if (value) {
    std::vector<int64_t> begin;
    const std::vector<int64_t> sizes = value->AsInt64s();
    for (size_t i = 0; i < sizes.size(); i += 2) begin.push_back(sizes[i]);
    return c.set(0, Slice(c.grad(), ConstInts(begin, index), ShapeOf(x, index)));
  }
  const Output first_column = Slice(paddings, {0, 0}, {-1, 1});
  c.set(0, Slice(c.grad(), Reshape(first_column, {-1}), ShapeOf(x, index)));
}

Output PaddingsConst(const Paddings& paddings) {
  Tensor value(DType::kInt64, Shape{static_cast<int64_t>(paddings.size()), 2});
  int64_t* out = value.data<int64_t>();
  for (const auto& [before, after] : paddings) {
    *out++ = before;
    *out++ = after;
  }
  return Const(value);
}

Output MirrorPadGrad(Output grad, Output paddings, std::string_view mode) {
  return OpBuilder("MirrorPadGrad")
      .Input(grad)
      .Input(paddings)
      .Attr("mode", std::string(mode))
      .Build();
}

const char* const kMirrorAttrs =
    "T:type; Tpaddings:type=int32 in [int32,int64]; mode:string in ['REFLECT','SYMMETRIC']";

}  // namespace

Output Pad(Output x, Output paddings) { return OpBuilder("Pad").Input(x).Input(paddings).Build(); }
Output Pad(Output x, const Paddings& paddings) { return Pad(x, PaddingsConst(paddings)); }
Output PadV2(Output x, Output paddings, Output constant_value) {
  return OpBuilder("PadV2").Input(x).Input(paddings).Input(constant_value).Build();
}
Output MirrorPad(Output x, Output paddings, std::string_view mode) {
  return OpBuilder("MirrorPad").Input(x).Input(paddings).Attr("mode", std::string(mode)).Build();
}
Output MirrorPad(Output x, const Paddings& paddings, std::string_view mode) {
  return MirrorPad(x, PaddingsConst(paddings), mode);
}

void RegisterPad(OpRegistry& registry) {
  registry.Add(OpDef("Pad")
                   .Inputs("input:T, paddings:Tpaddings")
                   .Outputs("output:T")
                   .Attrs("T:type; Tpaddings:type=int32 in [int32,int64]")
                   .Doc("The input with paddings[d, 0] zeros before and paddings[d, 1] after it "
                        "along dimension d.")
                   .Shape(PadShape)
                   .Gradient(PadGradient));
  registry.Add(OpDef("PadV2")
                   .Inputs("input:T, paddings:Tpaddings, constant_values:T")
                   .Outputs("output:T")
                   .Attrs("T:type; Tpaddings:type=int32 in [int32,int64]")
                   .Doc("The input with a border of the scalar constant_values.")
                   .Shape(PadShape)
                   .Gradient(PadGradient));
  registry.Add(OpDef("MirrorPad")
                   .Inputs("input:T, paddings:Tpaddings")
                   .Outputs("output:T")
                   .Attrs(kMirrorAttrs)
                   .Doc("The input with a border of its own elements mirrored at the edge, which "
                        "itself is repeated in the mode SYMMETRIC and not in REFLECT.")
                   .Shape(PadShape)
                   .Gradient([](GradientContext& c) {
                     c.set(0, MirrorPadGrad(c.grad(), c.input(1), c.attr<std::string>("mode")));
                   }));
  registry.Add(OpDef("MirrorPadGrad")
                   .Inputs("input:T, paddings:Tpaddings")
                   .Outputs("output:T")
                   .Attrs(kMirrorAttrs)
                   .Doc("What MirrorPad copied to several places summed up again.")
                   .Shape([](ShapeContext& c) { PaddedShape(c, -1); })
                   .Gradient([](GradientContext& c) {
                     c.set(0, MirrorPad(c.grad(), c.input(1), c.attr<std::string>("mode")));
                   }));
}

}  // namespace sextant

#include "sextant/ops/image/color.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

const char* const kHalfFloat = "T:type=float in [half,float]";
const char* const kNone = "TensorFlow defines none";

void ColorShape(ShapeContext& c) {
  const PartialShape shape = c.InputOfRankAtLeast(0, 1);
  if (shape.rank_known()) {
    const int64_t last = shape[shape.rank() - 1];
    if (last != PartialShape::kUnknown && last != 3) {
      throw InvalidArgument("the last dimension must have size 3, got {}", shape.ToString());
    }
  }
  c.set_output(0, shape);
}

void ImageShape(ShapeContext& c) { c.set_output(0, c.InputOfRankAtLeast(0, 3)); }

std::vector<Output> Channels(Output x) {
  std::vector<Output> channels;
  for (int i = 0; i < 3; ++i) channels.push_back(StridedSlice(x, {Ellipsis(), i}));
  return channels;
}

// With M and m the largest and smallest colour and D = M - m: v = M, s = D / M, and h = n / (6 D)
// plus a constant, where n is the difference of the two colours that follow the largest one in the
// circle red, green, blue. Where colours are equal, red counts as larger than green and blue, green
// as larger than blue. Nothing flows where M or D is 0.
void RgbToHsvGradient(GradientContext& c) {
  const Output rgb = c.input(0), grad = c.grad();
  const DType type = rgb.dtype();
  const std::vector<Output> color = Channels(rgb), g = Channels(grad);
  const Output r = color[0], gr = color[1], b = color[2];
  const auto mask = [&](Output x, Output y) { return Cast(LogicalAnd(x, y), type); };
  const Output big[] = {mask(GreaterEqual(r, b), GreaterEqual(r, gr)),
                        mask(Greater(gr, r), GreaterEqual(gr, b)),
                        mask(Greater(b, r), Greater(b, gr))};
  const Output small[] = {mask(Less(r, b), Less(r, gr)), mask(LessEqual(gr, r), Less(gr, b)),
                          mask(LessEqual(b, r), LessEqual(b, gr))};
  const Output most = StridedSlice(c.output(0), {Ellipsis(), 2});
  const Output least = small[0] * r + small[1] * gr + small[2] * b;
  const Output zero = ZerosLike(r), one = OnesLike(r);
  const Output per_most = DivNoNan(one, most), per_range = DivNoNan(one, most - least);
  const Output n = big[0] * (gr - b) + big[1] * (b - r) + big[2] * (r - gr);
  const Output lit = Cast(Greater(most, zero), type);
  std::vector<Output> grads;
  for (int i = 0; i < 3; ++i) {
    const Output dn = big[(i + 2) % 3] - big[(i + 1) % 3];
    const Output dh =
        lit * (dn * per_range - n * Square(per_range) * (big[i] - small[i])) * (1.0 / 6.0);
    const Output ds = Cast(Greater(color[i], zero), type) *
                      (big[i] * least * Square(per_most) - small[i] * per_most);
    grads.push_back(g[0] * dh + g[1] * ds + g[2] * big[i]);
  }
  c.set(0, Stack(grads, -1));
}

}  // namespace

Output RGBToHSV(Output images) { return OpBuilder("RGBToHSV").Input(images).Build(); }
Output HSVToRGB(Output images) { return OpBuilder("HSVToRGB").Input(images).Build(); }
Output AdjustContrast(Output images, Output contrast_factor) {
  return OpBuilder("AdjustContrastv2").Input(images).Input(contrast_factor).Build();
}
Output AdjustHue(Output images, Output delta) {
  return OpBuilder("AdjustHue").Input(images).Input(delta).Build();
}
Output AdjustSaturation(Output images, Output scale) {
  return OpBuilder("AdjustSaturation").Input(images).Input(scale).Build();
}

void RegisterColor(OpRegistry& registry) {
  registry.Add(OpDef("RGBToHSV")
                   .Inputs("images:T")
                   .Outputs("output:T")
                   .Attrs("T:type=float in [half,bfloat16,float,double]")
                   .Doc("Colours from red, green and blue to hue, saturation and value.")
                   .Shape(ColorShape)
                   .Gradient(RgbToHsvGradient));
  registry.Add(OpDef("HSVToRGB")
                   .Inputs("images:T")
                   .Outputs("output:T")
                   .Attrs("T:type=float in [half,bfloat16,float,double]")
                   .Doc("Colours from hue, saturation and value to red, green and blue.")
                   .Shape(ColorShape)
                   .GradientForbidden(kNone));
  registry.Add(OpDef("AdjustContrast")
                   .Inputs("images:T, contrast_factor:float, min_value:float, max_value:float")
                   .Outputs("output:float")
                   .Attrs("T:type in [uint8,int8,int16,int32,int64,float,double]")
                   .Deprecated(2)
                   .Doc("AdjustContrastv2 with the result kept within two bounds.")
                   .Shape(ImageShape)
                   .GradientForbidden(kNone));
  registry.Add(OpDef("AdjustContrastv2")
                   .Inputs("images:T, contrast_factor:float")
                   .Outputs("output:T")
                   .Attrs(kHalfFloat)
                   .Doc("The distance from the mean of each channel of each image times a factor.")
                   .Shape(ImageShape)
                   .GradientForbidden(kNone));
  registry.Add(OpDef("AdjustHue")
                   .Inputs("images:T, delta:float")
                   .Outputs("output:T")
                   .Attrs(kHalfFloat)
                   .Doc("Colours with their hue turned.")
                   .Shape(ImageShape)
                   .GradientForbidden(kNone));
  registry.Add(OpDef("AdjustSaturation")
                   .Inputs("images:T, scale:float")
                   .Outputs("output:T")
                   .Attrs(kHalfFloat)
                   .Doc("Colours with their saturation scaled.")
                   .Shape(ImageShape)
                   .GradientForbidden(kNone));
}

}  // namespace sextant

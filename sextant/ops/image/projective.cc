#include "sextant/ops/image/projective.h"

#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/math/binary.h"

namespace sextant {
namespace {

const char* const kAttrs =
    "dtype:type in [uint8,int32,int64,half,float,double]; interpolation:string; "
    "fill_mode:string='CONSTANT'";

void TransformShape(ShapeContext& c) {
  PartialShape shape = c.InputOfRank(0, 4);
  c.InputOfRank(1, 2);
  const PartialShape size = c.InputAsShape(2);
  const bool known = size.rank_known() && size.rank() == 2;
  for (int i = 0; i < 2; ++i) shape.set_dim(1 + i, known ? size[i] : PartialShape::kUnknown);
  c.set_output(0, std::move(shape));
}

// The inverse of each 3 by 3 matrix whose last element is 1, scaled so that it is so again.
Output Inverse(Output transforms) {
  const std::vector<Output> m = Unpack(transforms, 8, 1);
  const Output &a = m[0], &b = m[1], &c = m[2], &d = m[3], &e = m[4], &f = m[5], &g = m[6],
               &h = m[7];
  const Output last = a * e - b * d;
  std::vector<Output> inverse = {e - f * h, c * h - b,     b * f - c * e, f * g - d,
                                 a - c * g, c * d - a * f, d * h - e * g, b * g - a * h};
  for (Output& x : inverse) x = x / last;
  return Stack(inverse, 1);
}

OpBuilder Build(const char* op, Output images, Output transforms, Output size,
                const std::string& interpolation, const std::string& fill_mode) {
  OpBuilder builder(op);
  builder.Input(images).Input(transforms).Input(size);
  builder.Attr("interpolation", interpolation).Attr("fill_mode", fill_mode);
  return builder;
}

// As TensorFlow has it: the gradient of the output seen through the inverse transform, which is
// near the true one where the transform hardly scales.
void TransformGradient(GradientContext& c) {
  const DType type = c.input(0).dtype();
  if (type != DType::kHalf && type != DType::kFloat && type != DType::kDouble) return;
  const Output size = StridedSlice(ShapeOf(c.input(0)), {SliceRange(1, 3)});
  OpBuilder builder = Build(c.node()->type().c_str(), c.grad(), Inverse(c.input(1)), size,
                            c.attr<std::string>("interpolation"), c.attr<std::string>("fill_mode"));
  if (c.num_inputs() > 3) builder.Input(Const(Tensor(0.0F)));
  c.set(0, builder.Build());
}

}  // namespace

Output ImageProjectiveTransform(Output images, Output transforms, const IndexArg& output_shape,
                                const ProjectiveTransformOptions& options) {
  return Build("ImageProjectiveTransformV3", images, transforms,
               output_shape.ToOutput(DType::kInt32), options.interpolation, options.fill_mode)
      .Input(Const(Tensor(options.fill_value)))
      .Build();
}

void RegisterProjective(OpRegistry& registry) {
  registry.Add(OpDef("ImageProjectiveTransformV2")
                   .Inputs("images:dtype, transforms:float, output_shape:int32")
                   .Outputs("transformed_images:dtype")
                   .Attrs(kAttrs)
                   .Doc("Images seen through projective transforms, zero outside.")
                   .Shape(TransformShape)
                   .Gradient(TransformGradient));
  registry.Add(OpDef("ImageProjectiveTransformV3")
                   .Inputs("images:dtype, transforms:float, output_shape:int32, fill_value:float")
                   .Outputs("transformed_images:dtype")
                   .Attrs(kAttrs)
                   .Doc("ImageProjectiveTransformV2 with a value for what lies outside.")
                   .Shape(TransformShape)
                   .Gradient(TransformGradient));
}

}  // namespace sextant

#include "sextant/ops/image/resize.h"

#include <algorithm>
#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice.h"

namespace sextant {
namespace {

const std::string kTypes =
    "T:type in [int8,uint8,int16,uint16,int32,int64,half,float,double,bfloat16]";
const std::string kAlign = "; align_corners:bool=False";
const std::string kHalf = "; half_pixel_centers:bool=False";

// [batch, size[0], size[1], channels] of images at input 0 and a size at input 1.
void SizedShape(ShapeContext& c) {
  PartialShape shape = c.InputOfRank(0, 4);
  const PartialShape size_shape = c.InputOfRank(1, 1);
  if (size_shape[0] != PartialShape::kUnknown && size_shape[0] != 2) {
    throw InvalidArgument("size must have 2 elements, got shape {}", size_shape.ToString());
  }
  const PartialShape size = c.InputAsShape(1);
  const bool known = size.rank_known() && size.rank() == 2;
  for (int i = 0; i < 2; ++i) shape.set_dim(1 + i, known ? size[i] : PartialShape::kUnknown);
  c.set_output(0, std::move(shape));
}

void LikeOriginal(ShapeContext& c) { c.set_output(0, c.InputOfRank(1, 4)); }

// [height, width] of images.
Output SizeOf(Output images) {
  const PartialShape& shape = images.shape();
  if (shape.rank_known() && shape.rank() == 4 && shape[1] != PartialShape::kUnknown &&
      shape[2] != PartialShape::kUnknown) {
    return ConstInts({shape[1], shape[2]});
  }
  return StridedSlice(ShapeOf(images), {SliceRange(1, 3)});
}

Output BuildResize(const char* op, Output images, Output size, const ResizeOptions& o) {
  return OpBuilder(op)
      .Input(images)
      .Input(size)
      .Attr("align_corners", o.align_corners)
      .Attr("half_pixel_centers", o.half_pixel_centers)
      .Build();
}

ResizeOptions OptionsOf(const GradientContext& c) {
  return {c.attr<bool>("align_corners"), c.attr<bool>("half_pixel_centers")};
}

// The gradient of an op that gives floats, by the op that takes them and the original images.
// Types that this op does not know have none.
GradientFunction ToGradOp(const char* op, std::initializer_list<DType> types) {
  return [op, types = std::vector<DType>(types)](GradientContext& c) {
    const Output images = c.input(0);
    if (std::find(types.begin(), types.end(), images.dtype()) == types.end()) return;
    c.set(0, BuildResize(op, c.grad(), images, OptionsOf(c)));
  };
}

// These ops are linear in grads: their gradient is the forward op.
template <Output (*forward)(Output, const IndexArg&, const ResizeOptions&)>
void BackToForward(GradientContext& c) {
  c.set(0, forward(c.grad(), SizeOf(c.input(0)), OptionsOf(c)));
}

void RegisterFloatResize(OpRegistry& registry) {
  const std::string grad_doc = "The gradient of the images for a gradient of the resized ones.";
  registry.Add(OpDef("ResizeBilinear")
                   .Inputs("images:T, size:int32")
                   .Outputs("resized_images:float")
                   .Attrs("T:type in [int8,uint8,int16,uint16,int32,int64,bfloat16,half,float,"
                          "double,bfloat16]" +
                          kAlign + kHalf)
                   .Doc("Images of another size, linear between the nearest pixels.")
                   .Shape(SizedShape)
                   .Gradient(ToGradOp("ResizeBilinearGrad", {DType::kFloat, DType::kDouble,
                                                             DType::kHalf, DType::kBFloat16})));
  registry.Add(OpDef("ResizeBilinearGrad")
                   .Inputs("grads:float, original_image:T")
                   .Outputs("output:T")
                   .Attrs("T:type in [float,bfloat16,half,double]" + kAlign + kHalf)
                   .Doc(grad_doc)
                   .Shape(LikeOriginal)
                   .Gradient(BackToForward<ResizeBilinear>));
  registry.Add(OpDef("ResizeBicubic")
                   .Inputs("images:T, size:int32")
                   .Outputs("resized_images:float")
                   .Attrs(kTypes + kAlign + kHalf)
                   .Doc("Images of another size, by cubic splines through the nearest pixels.")
                   .Shape(SizedShape)
                   .Gradient(ToGradOp("ResizeBicubicGrad", {DType::kFloat, DType::kDouble})));
  registry.Add(OpDef("ResizeBicubicGrad")
                   .Inputs("grads:float, original_image:T")
                   .Outputs("output:T")
                   .Attrs("T:type in [float,double]" + kAlign + kHalf)
                   .Doc(grad_doc)
                   .Shape(LikeOriginal)
                   .Gradient(BackToForward<ResizeBicubic>));
  registry.Add(OpDef("ResizeArea")
                   .Inputs("images:T, size:int32")
                   .Outputs("resized_images:float")
                   .Attrs(kTypes + kAlign)
                   .Doc("Images of another size, each pixel the mean of the area it covers.")
                   .Shape(SizedShape)
                   .GradientForbidden("ResizeArea has no gradient"));
}

void RegisterNearest(OpRegistry& registry) {
  registry.Add(OpDef("ResizeNearestNeighbor")
                   .Inputs("images:T, size:int32")
                   .Outputs("resized_images:T")
                   .Attrs(kTypes + kAlign + kHalf)
                   .Doc("Images of another size, each pixel the nearest one.")
                   .Shape(SizedShape)
                   .Gradient([](GradientContext& c) {
                     c.set(0, BuildResize("ResizeNearestNeighborGrad", c.grad(), SizeOf(c.input(0)),
                                          OptionsOf(c)));
                   }));
  registry.Add(
      OpDef("ResizeNearestNeighborGrad")
          .Inputs("grads:T, size:int32")
          .Outputs("output:T")
          .Attrs("T:type in [uint8,int8,int32,half,float,double,bfloat16]" + kAlign + kHalf)
          .Doc("The gradient of images of this size for a gradient of the resized ones.")
          .Shape(SizedShape)
          .Gradient(BackToForward<ResizeNearestNeighbor>));
}

Output BuildScale(const char* op, Output images, Output second, Output scale, Output translation,
                  const std::string& kernel_type, bool antialias) {
  return OpBuilder(op)
      .Input(images)
      .Input(second)
      .Input(scale)
      .Input(translation)
      .Attr("kernel_type", kernel_type)
      .Attr("antialias", antialias)
      .Build();
}

void ScaleShape(ShapeContext& c) {
  for (int i = 2; i < 4; ++i) {
    const PartialShape shape = c.InputOfRank(i, 1);
    if (shape[0] != PartialShape::kUnknown && shape[0] != 2) {
      throw InvalidArgument("scale and translation must have 2 elements, got shape {}",
                            shape.ToString());
    }
  }
  SizedShape(c);
}

void RegisterScaleAndTranslateOps(OpRegistry& registry) {
  registry.Add(OpDef("ScaleAndTranslate")
                   .Inputs("images:T, size:int32, scale:float, translation:float")
                   .Outputs("resized_images:float")
                   .Attrs("T:type in [int8,uint8,int16,uint16,int32,int64,bfloat16,half,float,"
                          "double]; kernel_type:string='lanczos3'; antialias:bool=True")
                   .Doc("Images scaled and shifted, sampled with a kernel.")
                   .Shape(ScaleShape)
                   .Gradient([](GradientContext& c) {
                     if (c.input(0).dtype() != DType::kFloat) return;
                     c.set(0, BuildScale("ScaleAndTranslateGrad", c.grad(), c.input(0), c.input(2),
                                         c.input(3), c.attr<std::string>("kernel_type"),
                                         c.attr<bool>("antialias")));
                   }));
  registry.Add(OpDef("ScaleAndTranslateGrad")
                   .Inputs("grads:T, original_image:T, scale:float, translation:float")
                   .Outputs("output:T")
                   .Attrs("T:type in [float]; kernel_type:string='lanczos3'; antialias:bool=True")
                   .Doc("The gradient of the images for a gradient of the scaled ones.")
                   .Shape(LikeOriginal)
                   .Gradient([](GradientContext& c) {
                     c.set(0, BuildScale("ScaleAndTranslate", c.grad(), SizeOf(c.input(0)),
                                         c.input(2), c.input(3), c.attr<std::string>("kernel_type"),
                                         c.attr<bool>("antialias")));
                   }));
}

}  // namespace

Output ResizeBilinear(Output images, const IndexArg& size, const ResizeOptions& options) {
  return BuildResize("ResizeBilinear", images, size.ToOutput(DType::kInt32), options);
}
Output ResizeNearestNeighbor(Output images, const IndexArg& size, const ResizeOptions& options) {
  return BuildResize("ResizeNearestNeighbor", images, size.ToOutput(DType::kInt32), options);
}
Output ResizeBicubic(Output images, const IndexArg& size, const ResizeOptions& options) {
  return BuildResize("ResizeBicubic", images, size.ToOutput(DType::kInt32), options);
}
Output ResizeArea(Output images, const IndexArg& size, const ResizeAreaOptions& options) {
  return OpBuilder("ResizeArea")
      .Input(images)
      .Input(size.ToOutput(DType::kInt32))
      .Attr("align_corners", options.align_corners)
      .Build();
}
Output ScaleAndTranslate(Output images, const IndexArg& size, Output scale, Output translation,
                         const ScaleAndTranslateOptions& options) {
  return BuildScale("ScaleAndTranslate", images, size.ToOutput(DType::kInt32), scale, translation,
                    options.kernel_type, options.antialias);
}

void RegisterResize(OpRegistry& registry) {
  RegisterFloatResize(registry);
  RegisterNearest(registry);
  RegisterScaleAndTranslateOps(registry);
}

}  // namespace sextant

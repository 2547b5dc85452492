#include "sextant/ops/image/crop.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/shape.h"

namespace sextant {
namespace {

const std::string kImageTypes = "T:type in [uint8,uint16,int8,int16,int32,int64,half,float,double]";

// Checks boxes[n, 4] and box_ind[n] at inputs i and i + 1; gives n.
int64_t NumBoxes(const ShapeContext& c, int i) {
  const PartialShape boxes = c.InputOfRank(i, 2), indices = c.InputOfRank(i + 1, 1);
  if (boxes[1] != PartialShape::kUnknown && boxes[1] != 4) {
    throw InvalidArgument("boxes must have 4 columns, got shape {}", boxes.ToString());
  }
  return PartialShape{boxes[0]}.MergeWith(PartialShape{indices[0]})[0];
}

void CropShape(ShapeContext& c) {
  const PartialShape image = c.InputOfRank(0, 4);
  PartialShape shape{NumBoxes(c, 1), PartialShape::kUnknown, PartialShape::kUnknown, image[3]};
  const PartialShape size_shape = c.InputOfRank(3, 1);
  if (size_shape[0] != PartialShape::kUnknown && size_shape[0] != 2) {
    throw InvalidArgument("crop_size must have 2 elements, got shape {}", size_shape.ToString());
  }
  const PartialShape size = c.InputAsShape(3);
  if (size.rank_known() && size.rank() == 2) {
    for (int i = 0; i < 2; ++i) shape.set_dim(1 + i, size[i]);
  }
  c.set_output(0, std::move(shape));
}

void CropGradient(GradientContext& c) {
  const Output image = c.input(0), boxes = c.input(1), indices = c.input(2);
  const DType type = image.dtype();
  if (c.wanted(0) && (type == DType::kFloat || type == DType::kDouble || type == DType::kHalf)) {
    c.set(0, OpBuilder("CropAndResizeGradImage")
                 .Input(c.grad())
                 .Input(boxes)
                 .Input(indices)
                 .Input(ShapeOf(image))
                 .Attr("T", type)
                 .Attr("method", c.attr<std::string>("method"))
                 .Build());
  }
  if (c.wanted(1)) {
    c.set(1, OpBuilder("CropAndResizeGradBoxes")
                 .Input(c.grad())
                 .Input(image)
                 .Input(boxes)
                 .Input(indices)
                 .Build());
  }
}

}  // namespace

Output CropAndResize(Output image, Output boxes, Output box_ind, const IndexArg& crop_size,
                     const CropAndResizeOptions& options) {
  return OpBuilder("CropAndResize")
      .Input(image)
      .Input(boxes)
      .Input(box_ind)
      .Input(crop_size.ToOutput(DType::kInt32))
      .Attr("method", options.method)
      .Attr("extrapolation_value", options.extrapolation_value)
      .Build();
}

void RegisterCrop(OpRegistry& registry) {
  registry.Add(OpDef("CropAndResize")
                   .Inputs("image:T, boxes:float, box_ind:int32, crop_size:int32")
                   .Outputs("crops:float")
                   .Attrs(kImageTypes + "; method:string='bilinear' in ['bilinear','nearest']; "
                                        "extrapolation_value:float=0.0")
                   .Doc("Boxes cut out of images and resized to one size.")
                   .Shape(CropShape)
                   .Gradient(CropGradient));
  registry.Add(OpDef("CropAndResizeGradImage")
                   .Inputs("grads:float, boxes:float, box_ind:int32, image_size:int32")
                   .Outputs("output:T")
                   .Attrs("T:type in [float,half,double]; "
                          "method:string='bilinear' in ['bilinear','nearest']")
                   .Doc("The gradient of the images for a gradient of their crops.")
                   .Shape([](ShapeContext& c) {
                     c.InputOfRank(0, 4);
                     NumBoxes(c, 1);
                     c.set_output(0, c.InputAsShape(3).MergeWith(PartialShape::UnknownOfRank(4)));
                   })
                   .GradientForbidden("CropAndResizeGradImage has no gradient"));
  registry.Add(OpDef("CropAndResizeGradBoxes")
                   .Inputs("grads:float, image:T, boxes:float, box_ind:int32")
                   .Outputs("output:float")
                   .Attrs(kImageTypes + "; method:string='bilinear' in ['bilinear']")
                   .Doc("The gradient of the boxes for a gradient of their crops.")
                   .Shape([](ShapeContext& c) {
                     c.InputOfRank(0, 4);
                     c.InputOfRank(1, 4);
                     c.set_output(0, PartialShape{NumBoxes(c, 2), 4});
                   })
                   .GradientForbidden("CropAndResizeGradBoxes has no gradient"));
}

}  // namespace sextant

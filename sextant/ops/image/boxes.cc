#include "sextant/ops/image/boxes.h"

#include <string>
#include <vector>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/random/random.h"

namespace sextant {
namespace {

const char* const kWhyNotRandom = "the result is random";
const std::string kSampleTypes = "T:type in [uint8,int8,int16,int32,int64]; ";
const std::string kSampleRanges =
    "aspect_ratio_range:list(float)=[0.75,1.3300000429153442]; "
    "area_range:list(float)=[0.05000000074505806,1.0]; max_attempts:int=100; "
    "use_image_if_no_bounding_boxes:bool=False";

void SampleShape(ShapeContext& c) {
  c.InputOfRank(0, 1);
  c.InputOfRank(1, 3);
  c.set_output(0, PartialShape{3});
  c.set_output(1, PartialShape{3});
  c.set_output(2, PartialShape{1, 1, 4});
}

void DrawShape(ShapeContext& c) {
  c.InputOfRank(1, 3);
  if (c.num_inputs() > 2) c.InputOfRank(2, 2);
  c.set_output(0, c.InputOfRank(0, 4));
}

}  // namespace

Output DrawBoundingBoxes(Output images, Output boxes) {
  return OpBuilder("DrawBoundingBoxes").Input(images).Input(boxes).Build();
}
Output DrawBoundingBoxes(Output images, Output boxes, Output colors) {
  return OpBuilder("DrawBoundingBoxesV2").Input(images).Input(boxes).Input(colors).Build();
}

DistortedBoundingBox SampleDistortedBoundingBox(Output image_size, Output bounding_boxes,
                                                const SampleDistortedBoundingBoxOptions& o) {
  const RandomSeeds seeds = MakeRandomSeeds(image_size.graph(), o.seed);
  const auto list = [](const std::pair<float, float>& range) {
    return std::vector<float>{range.first, range.second};
  };
  const auto outputs = OpBuilder("SampleDistortedBoundingBoxV2")
                           .Input(image_size)
                           .Input(bounding_boxes)
                           .Input(Const(Tensor(o.min_object_covered)))
                           .Attr("seed", seeds.seed)
                           .Attr("seed2", seeds.seed2)
                           .Attr("aspect_ratio_range", list(o.aspect_ratio_range))
                           .Attr("area_range", list(o.area_range))
                           .Attr("max_attempts", o.max_attempts)
                           .Attr("use_image_if_no_bounding_boxes", o.use_image_if_no_bounding_boxes)
                           .BuildAll();
  return {outputs[0], outputs[1], outputs[2]};
}

void RegisterBoxes(OpRegistry& registry) {
  registry.Add(OpDef("DrawBoundingBoxes")
                   .Inputs("images:T, boxes:float")
                   .Outputs("output:T")
                   .Attrs("T:type=float in [float,half]")
                   .Doc("Images with the outlines of boxes, in a circle of ten colours.")
                   .Shape(DrawShape)
                   .GradientForbidden("TensorFlow defines none"));
  registry.Add(OpDef("DrawBoundingBoxesV2")
                   .Inputs("images:T, boxes:float, colors:float")
                   .Outputs("output:T")
                   .Attrs("T:type=float in [float,half]")
                   .Doc("Images with the outlines of boxes, in the colours given.")
                   .Shape(DrawShape)
                   .GradientForbidden("TensorFlow defines none"));
  registry.Add(
      OpDef("SampleDistortedBoundingBox")
          .Inputs("image_size:T, bounding_boxes:float")
          .Outputs("begin:T, size:T, bboxes:float")
          .Attrs(kSampleTypes +
                 "seed:int=0; seed2:int=0; min_object_covered:float=0.10000000149011612; " +
                 kSampleRanges)
          .Stateful()
          .Doc("A random part of an image that keeps enough of one of the boxes.")
          .Shape(SampleShape)
          .NotDifferentiable(kWhyNotRandom));
  registry.Add(OpDef("SampleDistortedBoundingBoxV2")
                   .Inputs("image_size:T, bounding_boxes:float, min_object_covered:float")
                   .Outputs("begin:T, size:T, bboxes:float")
                   .Attrs(kSampleTypes + "seed:int=0; seed2:int=0; " + kSampleRanges)
                   .Stateful()
                   .Doc("SampleDistortedBoundingBox with the covered part as a tensor.")
                   .Shape(SampleShape)
                   .NotDifferentiable(kWhyNotRandom));
  registry.Add(OpDef("StatelessSampleDistortedBoundingBox")
                   .Inputs("image_size:T, bounding_boxes:float, min_object_covered:float, "
                           "seed:Tseed")
                   .Outputs("begin:T, size:T, bboxes:float")
                   .Attrs(kSampleTypes + "Tseed:type in [int32,int64]; " + kSampleRanges)
                   .Doc("SampleDistortedBoundingBoxV2 as a function of its seed alone.")
                   .Shape(SampleShape)
                   .NotDifferentiable(kWhyNotRandom));
}

}  // namespace sextant

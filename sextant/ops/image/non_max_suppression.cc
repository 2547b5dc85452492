#include "sextant/ops/image/non_max_suppression.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

const char* const kWhyNotBoxes = "the choice of boxes is no function of a number";
const std::string kThresholdTypes =
    "T:type=float in [half,float]; T_threshold:type=float in [half,float]";

// Checks the inputs; gives the shape of the indices.
PartialShape SelectedShape(const ShapeContext& c, bool padded) {
  const PartialShape boxes = c.InputOfRank(0, 2), scores = c.InputOfRank(1, 1);
  PartialShape{boxes[0]}.MergeWith(scores);
  for (int i = 2; i < c.num_inputs(); ++i) c.InputOfRank(i, 0);
  if (c.node().type() != "NonMaxSuppressionWithOverlaps" && boxes[1] != PartialShape::kUnknown &&
      boxes[1] != 4) {
    throw InvalidArgument("boxes must have 4 columns, got shape {}", boxes.ToString());
  }
  const auto size = padded ? c.InputInt(2) : std::nullopt;
  return PartialShape{size && *size >= 0 ? *size : PartialShape::kUnknown};
}

void IndicesShape(ShapeContext& c) { c.set_output(0, SelectedShape(c, false)); }

void PaddedShape(ShapeContext& c) {
  const PartialShape selected = SelectedShape(c, c.attr<bool>("pad_to_max_output_size"));
  for (int i = 0; i + 1 < c.num_outputs(); ++i) c.set_output(i, selected);
  c.set_output(c.num_outputs() - 1, PartialShape(Shape()));
}

Output Real(float value, DType type) {
  if (type == DType::kHalf) return Const(Tensor::Scalar(Half(value)));
  return Const(Tensor(value));
}

OpBuilder Build(const char* op, Output boxes, Output scores, Output size, float iou, float score) {
  OpBuilder builder(op);
  builder.Input(boxes).Input(scores).Input(size);
  builder.Input(Real(iou, boxes.dtype())).Input(Real(score, boxes.dtype()));
  return builder;
}

OpDef WithOverlaps() {
  return OpDef("NonMaxSuppressionWithOverlaps")
      .Inputs(
          "overlaps:float, scores:float, max_output_size:int32, overlap_threshold:float, "
          "score_threshold:float")
      .Outputs("selected_indices:int32")
      .Doc("As NonMaxSuppressionV3, with a matrix that says how far boxes overlap.")
      .Shape(IndicesShape)
      .NotDifferentiable(kWhyNotBoxes);
}

}  // namespace

Output NonMaxSuppression(Output boxes, Output scores, Output max_output_size,
                         const NonMaxSuppressionOptions& o) {
  return Build("NonMaxSuppressionV3", boxes, scores, max_output_size, o.iou_threshold,
               o.score_threshold)
      .Build();
}
PaddedNonMaxSuppression NonMaxSuppressionPadded(Output boxes, Output scores, Output max_output_size,
                                                const NonMaxSuppressionOptions& o) {
  const auto outputs = Build("NonMaxSuppressionV4", boxes, scores, max_output_size, o.iou_threshold,
                             o.score_threshold)
                           .Attr("pad_to_max_output_size", true)
                           .BuildAll();
  return {outputs[0], outputs[1]};
}
ScoredNonMaxSuppression SoftNonMaxSuppression(Output boxes, Output scores, Output max_output_size,
                                              const SoftNonMaxSuppressionOptions& o) {
  const auto outputs =
      Build("NonMaxSuppressionV5", boxes, scores, max_output_size, 1.0F, o.score_threshold)
          .Input(Real(o.sigma, boxes.dtype()))
          .BuildAll();
  return {outputs[0], outputs[1]};
}

void RegisterNonMaxSuppression(OpRegistry& registry) {
  registry.Add(OpDef("NonMaxSuppression")
                   .Inputs("boxes:float, scores:float, max_output_size:int32")
                   .Outputs("selected_indices:int32")
                   .Attrs("iou_threshold:float=0.5")
                   .Doc("The boxes of the best scores, without those that overlap a better one.")
                   .Shape(IndicesShape)
                   .NotDifferentiable(kWhyNotBoxes));
  registry.Add(OpDef("NonMaxSuppressionV2")
                   .Inputs("boxes:T, scores:T, max_output_size:int32, iou_threshold:T_threshold")
                   .Outputs("selected_indices:int32")
                   .Attrs(kThresholdTypes)
                   .Doc("NonMaxSuppression with the threshold as a tensor.")
                   .Shape(IndicesShape)
                   .NotDifferentiable(kWhyNotBoxes));
  registry.Add(OpDef("NonMaxSuppressionV3")
                   .Inputs("boxes:T, scores:T, max_output_size:int32, iou_threshold:T_threshold, "
                           "score_threshold:T_threshold")
                   .Outputs("selected_indices:int32")
                   .Attrs(kThresholdTypes)
                   .Doc("NonMaxSuppressionV2 of the boxes whose scores are above a threshold.")
                   .Shape(IndicesShape)
                   .NotDifferentiable(kWhyNotBoxes));
  registry.Add(OpDef("NonMaxSuppressionV4")
                   .Inputs("boxes:T, scores:T, max_output_size:int32, iou_threshold:T_threshold, "
                           "score_threshold:T_threshold")
                   .Outputs("selected_indices:int32, valid_outputs:int32")
                   .Attrs(kThresholdTypes + "; pad_to_max_output_size:bool=False")
                   .Doc("NonMaxSuppressionV3 whose result may be filled up with zeros.")
                   .Shape(PaddedShape)
                   .NotDifferentiable(kWhyNotBoxes));
  registry.Add(OpDef("NonMaxSuppressionV5")
                   .Inputs("boxes:T, scores:T, max_output_size:int32, iou_threshold:T, "
                           "score_threshold:T, soft_nms_sigma:T")
                   .Outputs("selected_indices:int32, selected_scores:T, valid_outputs:int32")
                   .Attrs("T:type=float in [half,float]; pad_to_max_output_size:bool=False")
                   .Doc("NonMaxSuppressionV4 that lowers the scores of overlapping boxes when "
                        "soft_nms_sigma is above 0.")
                   .Shape(PaddedShape)
                   .NotDifferentiable(kWhyNotBoxes));
  registry.Add(WithOverlaps());
}

}  // namespace sextant

#include "sextant/ops/summary/media_summary.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {

Output ImageSummary(Output tag, Output tensor, const ImageSummaryOptions& options) {
  return OpBuilder("ImageSummary")
      .Input(tag)
      .Input(tensor)
      .Attr("max_images", options.max_images)
      .Attr("bad_color", options.bad_color)
      .Build();
}
Output AudioSummary(Output tag, Output tensor, Output sample_rate, int64_t max_outputs) {
  return OpBuilder("AudioSummaryV2")
      .Input(tag)
      .Input(tensor)
      .Input(sample_rate)
      .Attr("max_outputs", max_outputs)
      .Build();
}

void RegisterMediaSummary(OpRegistry& registry) {
  constexpr const char* kReason = "a serialized message";
  registry.Add(OpDef("ImageSummary")
                   .Inputs("tag:string, tensor:T")
                   .Outputs("summary:string")
                   .Attrs("max_images:int=3>=1; T:type=float in [uint8,float,half,double]; "
                          "bad_color:tensor=tensor")
                   .Doc("A summary with the first images of a batch as PNG.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kReason));
  registry.Add(OpDef("AudioSummary")
                   .Inputs("tag:string, tensor:float")
                   .Outputs("summary:string")
                   .Attrs("sample_rate:float; max_outputs:int=3>=1")
                   .Deprecated(15)
                   .Doc("A summary with the first sounds of a batch as WAV, at a fixed rate.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kReason));
  registry.Add(OpDef("AudioSummaryV2")
                   .Inputs("tag:string, tensor:float, sample_rate:float")
                   .Outputs("summary:string")
                   .Attrs("max_outputs:int=3>=1")
                   .Doc("A summary with the first sounds of a batch as WAV.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kReason));
}

}  // namespace sextant

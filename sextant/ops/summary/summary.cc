#include "sextant/ops/summary/summary.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

constexpr const char* kBytes = "a serialized message";
const std::string kReals =
    "[float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]";

}  // namespace

Output ScalarSummary(Output tags, Output values) {
  return OpBuilder("ScalarSummary").Input(tags).Input(values).Build();
}
Output HistogramSummary(Output tag, Output values) {
  return OpBuilder("HistogramSummary").Input(tag).Input(values).Build();
}
Output TensorSummary(Output tag, Output tensor, Output serialized_summary_metadata) {
  return OpBuilder("TensorSummaryV2")
      .Input(tag)
      .Input(tensor)
      .Input(serialized_summary_metadata)
      .Build();
}
Output MergeSummary(const std::vector<Output>& summaries) {
  return OpBuilder("MergeSummary").Input(summaries).Build();
}

void RegisterSummary(OpRegistry& registry) {
  registry.Add(OpDef("ScalarSummary")
                   .Inputs("tags:string, values:T")
                   .Outputs("summary:string")
                   .Attrs("T:type in " + kReals)
                   .Doc("A summary with a number for each tag.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kBytes));
  registry.Add(OpDef("HistogramSummary")
                   .Inputs("tag:string, values:T")
                   .Outputs("summary:string")
                   .Attrs("T:type=float in " + kReals)
                   .Doc("A summary with the histogram of all values.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kBytes));
  registry.Add(OpDef("TensorSummary")
                   .Inputs("tensor:T")
                   .Outputs("summary:string")
                   .Attrs("T:type; description:string=''; labels:list(string)=[]; "
                          "display_name:string=''")
                   .Doc("A summary with a tensor under the name of the node.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kBytes));
  registry.Add(OpDef("TensorSummaryV2")
                   .Inputs("tag:string, tensor:T, serialized_summary_metadata:string")
                   .Outputs("summary:string")
                   .Attrs("T:type")
                   .Doc("A summary with a tensor, its tag and metadata.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kBytes));
  registry.Add(OpDef("MergeSummary")
                   .Inputs("inputs:N*string")
                   .Outputs("summary:string")
                   .Attrs("N:int>=1")
                   .Doc("A summary with the values of all given ones.")
                   .Shape(shapes::Scalar)
                   .NotDifferentiable(kBytes));
}

}  // namespace sextant

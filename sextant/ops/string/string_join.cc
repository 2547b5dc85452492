#include "sextant/ops/string/string_join.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

void JoinShape(ShapeContext& c) {
  PartialShape shape = Shape();
  bool known = true;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const PartialShape& input = c.input(i);
    if (!input.rank_known()) {
      known = false;
    } else if (input.rank() > 0) {
      shape = shape.rank() > 0 ? shape.MergeWith(input) : input;
    }
  }
  // A tensor of unknown rank may be a scalar: it tells nothing, and nothing of the rank is known
  // unless another is not a scalar.
  c.set_output(0, known || shape.rank() > 0 ? shape : PartialShape());
}

void SegmentJoinShape(ShapeContext& c) {
  const PartialShape &x = c.input(0), &ids = c.input(1);
  c.InputOfRank(2, 0);
  if (!x.rank_known() || !ids.rank_known()) return c.set_output(0, PartialShape());
  if (ids.rank() > x.rank()) {
    throw InvalidArgument("segment_ids of shape {} do not fit inputs of shape {}", ids.ToString(),
                          x.ToString());
  }
  const std::optional<int64_t> segments = c.InputInt(2);
  PartialShape shape{segments && *segments >= 0 ? *segments : PartialShape::kUnknown};
  for (int d = ids.rank(); d < x.rank(); ++d) shape.Append(x[d]);
  c.set_output(0, shape);
}

}  // namespace

Output StringJoin(const std::vector<Output>& xs, const StringJoinOptions& options) {
  return OpBuilder("StringJoin").Input(xs).Attr("separator", options.separator).Build();
}
Output ReduceJoin(Output x, const IndexArg& axes, const ReduceJoinOptions& options) {
  return OpBuilder("ReduceJoin")
      .Input(x)
      .Input(axes.ToOutput(DType::kInt32))
      .Attr("keep_dims", options.keep_dims)
      .Attr("separator", options.separator)
      .Build();
}
Output UnsortedSegmentJoin(Output x, Output segment_ids, const IndexArg& num_segments,
                           const UnsortedSegmentJoinOptions& options) {
  return OpBuilder("UnsortedSegmentJoin")
      .Input(x)
      .Input(segment_ids)
      .Input(num_segments.ToOutput())
      .Attr("separator", options.separator)
      .Build();
}

void RegisterStringJoin(OpRegistry& registry) {
  registry.Add(OpDef("StringJoin")
                   .Inputs("inputs:N*string")
                   .Outputs("output:string")
                   .Attrs("N:int>=0; separator:string=''")
                   .Doc("The elements of all inputs at one place joined to one string; scalars go "
                        "with every place.")
                   .Shape(JoinShape)
                   .NotDifferentiable("text has no derivative"));
  registry.Add(
      OpDef("ReduceJoin")
          .Inputs("inputs:string, reduction_indices:int32")
          .Outputs("output:string")
          .Attrs("keep_dims:bool=False; separator:string=''")
          .Doc("The strings along the given axes joined to one; the first axis given varies "
               "fastest.")
          .Shape(shapes::Reduction)
          .NotDifferentiable("text has no derivative"));
  registry.Add(OpDef("UnsortedSegmentJoin")
                   .Inputs("inputs:string, segment_ids:Tindices, num_segments:Tnumsegments")
                   .Outputs("output:string")
                   .Attrs("separator:string=''; Tindices:type in [int32,int64]; "
                          "Tnumsegments:type=int32 in [int32,int64]")
                   .Doc("The strings of each segment joined to one.")
                   .Shape(SegmentJoinShape)
                   .NotDifferentiable("text has no derivative"));
}

}  // namespace sextant

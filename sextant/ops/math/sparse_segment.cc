#include "sextant/ops/math/sparse_segment.h"

#include <iterator>
#include <set>
#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/shape.h"

namespace sextant {
namespace {

Output Build(const std::string& op, Output data, Output indices, Output ids,
             const SparseSegmentOptions& options) {
  OpBuilder builder(options.num_segments ? op + "WithNumSegments" : op);
  builder.Input(data).Input(indices).Input(ids);
  if (options.num_segments) builder.Input(options.num_segments->ToOutput());
  return builder.Attr("sparse_gradient", options.sparse_gradient).Build();
}

PartialShape WithRows(PartialShape shape, std::optional<int64_t> rows) {
  if (shape.rank_known()) shape.set_dim(0, rows.value_or(PartialShape::kUnknown));
  return shape;
}

void CheckIndices(ShapeContext& c) { c.InputOfRank(1, 1).MergeWith(c.InputOfRank(2, 1)); }

std::optional<int64_t> LastIdPlusOne(ShapeContext& c) {
  const auto ids = c.InputInts(2);
  if (!ids || (!ids->empty() && ids->back() < 0)) return std::nullopt;
  return ids->empty() ? 0 : ids->back() + 1;
}

void SparseSegmentShape(ShapeContext& c) {
  CheckIndices(c);
  const auto rows = c.num_inputs() == 4 ? c.InputInt(3) : LastIdPlusOne(c);
  if (rows && *rows < 0) throw InvalidArgument("num_segments = {} is negative", *rows);
  c.set_output(0, WithRows(c.InputOfRankAtLeast(0, 1), rows));
}

void GradShape(ShapeContext& c) {
  CheckIndices(c);
  c.InputOfRank(3, 0);
  const auto rows = c.InputInt(3);
  if (rows && *rows < 0) throw InvalidArgument("output_dim0 = {} is negative", *rows);
  c.set_output(0, WithRows(c.InputOfRankAtLeast(0, 1), rows));
}

void GradV2Shape(ShapeContext& c) {
  CheckIndices(c);
  std::optional<int64_t> rows;
  if (const auto indices = c.InputInts(1)) {
    rows = std::ssize(std::set<int64_t>(indices->begin(), indices->end()));
  }
  c.set_output(0, WithRows(c.InputOfRankAtLeast(0, 1), rows));
  c.set_output(1, {rows.value_or(PartialShape::kUnknown)});
}

// "how" is Sum, Mean or SqrtN.
void SegmentGradient(GradientContext& c, const std::string& how) {
  const Output shape = ShapeOf(c.input(0));
  const Output rows = Gather(shape, 0);
  const auto build = [&](const char* suffix) {
    return OpBuilder("SparseSegment" + how + suffix)
        .Input(c.grad())
        .Input(c.input(1))
        .Input(c.input(2))
        .Input(rows)
        .BuildAll();
  };
  if (c.attr<bool>("sparse_gradient")) {
    const std::vector<Output> slices = build("GradV2");
    c.set(0, IndexedSlices{slices[0], slices[1], shape});
  } else {
    c.set(0, build("Grad")[0]);
  }
}

const std::string kFloating = "T:type in [bfloat16,half,float,double]; ";
const std::string kSparseSegmentReals =
    "T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; ";
const std::string kIndex = "Tidx:type=int32 in [int32,int64]; ";
const std::string kNumSegments = "Tnumsegments:type=int32 in [int32,int64]; ";
const std::string kIds = "Tsegmentids:type=int32 in [int32,int64]";

void RegisterFold(OpRegistry& registry, const std::string& how, const std::string& types,
                  const std::string& doc) {
  const std::string name = "SparseSegment" + how;
  const std::string data = "data:T, indices:Tidx, segment_ids:Tsegmentids";
  const auto gradient = [how](GradientContext& c) { SegmentGradient(c, how); };
  registry.Add(OpDef(name)
                   .Inputs(data)
                   .Outputs("output:T")
                   .Attrs(types + kIndex + kIds + "; sparse_gradient:bool=False")
                   .Doc(doc + ", as many results as the last id plus one.")
                   .Shape(SparseSegmentShape)
                   .Gradient(gradient));
  registry.Add(OpDef(name + "WithNumSegments")
                   .Inputs(data + ", num_segments:Tnumsegments")
                   .Outputs("output:T")
                   .Attrs(types + kIndex + kNumSegments + kIds + "; sparse_gradient:bool=False")
                   .Doc(doc + ", num_segments results.")
                   .Shape(SparseSegmentShape)
                   .Gradient(gradient));
  const std::string grad = "grad:T, indices:Tidx, segment_ids:Tsegmentids, ";
  registry.Add(OpDef(name + "Grad")
                   .Inputs(grad + "output_dim0:int32")
                   .Outputs("output:T")
                   .Attrs(kFloating + kIndex + kIds)
                   .Doc("Gradient of " + name + " with respect to data.")
                   .Shape(GradShape)
                   .NotDifferentiable("second derivatives of " + name + " are not provided"));
  registry.Add(
      OpDef(name + "GradV2")
          .Inputs(grad + "dense_output_dim0:int32")
          .Outputs("output:T, sorted_unique_indices:Tidx")
          .Attrs(kFloating + kIndex + kIds)
          .Doc("Gradient of " + name + " with respect to the rows of data that were picked.")
          .Shape(GradV2Shape)
          .NotDifferentiable("second derivatives of " + name + " are not provided"));
}

}  // namespace

Output SparseSegmentSum(Output data, Output indices, Output segment_ids,
                        const SparseSegmentOptions& options) {
  return Build("SparseSegmentSum", data, indices, segment_ids, options);
}
Output SparseSegmentMean(Output data, Output indices, Output segment_ids,
                         const SparseSegmentOptions& options) {
  return Build("SparseSegmentMean", data, indices, segment_ids, options);
}
Output SparseSegmentSqrtN(Output data, Output indices, Output segment_ids,
                          const SparseSegmentOptions& options) {
  return Build("SparseSegmentSqrtN", data, indices, segment_ids, options);
}

void RegisterSparseSegment(OpRegistry& registry) {
  RegisterFold(registry, "Sum", kSparseSegmentReals, "Sum of the picked rows with the same id");
  RegisterFold(registry, "Mean", kFloating, "Mean of the picked rows with the same id");
  RegisterFold(registry, "SqrtN", kFloating,
               "Sum of the picked rows with the same id over the square root of their number");
}

}  // namespace sextant

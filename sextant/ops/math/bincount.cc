#include "sextant/ops/math/bincount.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

int64_t KnownSize(ShapeContext& c, int i, const char* what) {
  c.InputOfRank(i, 0);
  const auto size = c.InputInt(i);
  if (size && *size < 0) throw InvalidArgument("{} ({}) must be non-negative", what, *size);
  return size.value_or(PartialShape::kUnknown);
}

void BincountShape(ShapeContext& c) { c.set_output(0, {KnownSize(c, 1, "size")}); }

void DenseBincountShape(ShapeContext& c) {
  const PartialShape& input = c.input(0);
  const int64_t size = KnownSize(c, 1, "size");
  if (!input.rank_known()) return c.set_output(0, PartialShape());
  if (input.rank() > 2) {
    throw InvalidArgument("Shape must be at most rank 2 but is rank {}", input.rank());
  }
  // The counts of a scalar are empty.
  if (input.rank() == 0) return c.set_output(0, {0});
  c.set_output(0, input.rank() == 2 ? PartialShape{input[0], size} : PartialShape{size});
}

void HistogramShape(ShapeContext& c) {
  c.InputOfRank(1, 1);
  c.set_output(0, {KnownSize(c, 2, "nbins")});
}

}  // namespace

Output Bincount(Output arr, Output size, Output weights) {
  return OpBuilder("Bincount").Input(arr).Input(size).Input(weights).Build();
}
Output DenseBincount(Output input, Output size, Output weights,
                     const DenseBincountOptions& options) {
  return OpBuilder("DenseBincount")
      .Input(input)
      .Input(size)
      .Input(weights)
      .Attr("binary_output", options.binary_output)
      .Build();
}
Output HistogramFixedWidth(Output values, Output value_range, Output nbins,
                           const HistogramOptions& options) {
  return OpBuilder("HistogramFixedWidth")
      .Input(values)
      .Input(value_range)
      .Input(nbins)
      .Attr("dtype", options.dtype)
      .Build();
}

void RegisterBincount(OpRegistry& registry) {
  registry.Add(OpDef("Bincount")
                   .Inputs("arr:int32, size:int32, weights:T")
                   .Outputs("bins:T")
                   .Attrs("T:type in [int32,int64,float,double]")
                   .Doc("How often each of 0, 1, ..., size - 1 occurs, or the sums of weights.")
                   .Shape(BincountShape)
                   .NotDifferentiable("a count does not change with small changes"));
  registry.Add(
      OpDef("DenseBincount")
          .Inputs("input:Tidx, size:Tidx, weights:T")
          .Outputs("output:T")
          .Attrs("Tidx:type in [int32,int64]; T:type in [int32,int64,float,double]; "
                 "binary_output:bool=False")
          .Doc("How often each of 0, 1, ..., size - 1 occurs in a vector or in each row of "
               "a matrix, or the sums of weights.")
          .Shape(DenseBincountShape)
          .NotDifferentiable("a count does not change with small changes"));
  registry.Add(
      OpDef("HistogramFixedWidth")
          .Inputs("values:T, value_range:T, nbins:int32")
          .Outputs("out:dtype")
          .Attrs("T:type in [int32,int64,float,double]; dtype:type=int32 in [int32,int64]")
          .Doc("Counts of values in equal parts of a range; the ends take what is outside.")
          .Shape(HistogramShape)
          .NotDifferentiable("a count does not change with small changes"));
}

}  // namespace sextant

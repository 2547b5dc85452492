#include "sextant/ops/math/reduce.h"

#include <algorithm>
#include <numeric>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/broadcast_to.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/array/partition.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/array/unique.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/cumulative.h"
#include "sextant/ops/math/range.h"

namespace sextant {
namespace {

Output Build(const char* op, Output x, const IndexArg& axes, const ReduceOptions& options) {
  return OpBuilder(op).Input(x).Input(axes.ToOutput()).Attr("keep_dims", options.keep_dims).Build();
}

// The shape of the node's output with keep_dims.
Output KeptShape(GradientContext& c) {
  if (c.attr<bool>("keep_dims")) return ShapeOf(c.output(0));
  return ReducedShape(ShapeOf(c.input(0)), c.input(1));
}

Output WithKeptDims(GradientContext& c, Output value) {
  return c.attr<bool>("keep_dims") ? value : Reshape(value, KeptShape(c));
}

Output SumGradient(GradientContext& c) {
  return BroadcastTo(WithKeptDims(c, c.grad()), ShapeOf(c.input(0)));
}

Output NonNegativeAxes(Output axes, Output rank) { return FloorMod(axes + rank, rank); }

Output MeanGradient(GradientContext& c) {
  const Output gradient = SumGradient(c);
  const int64_t inputs = c.input(0).shape().num_elements();
  const int64_t outputs = c.output(0).shape().num_elements();
  Output count;
  if (inputs != PartialShape::kUnknown && outputs != PartialShape::kUnknown) {
    const int64_t each = inputs / std::max<int64_t>(outputs, 1);
    count = Const(Tensor(static_cast<double>(each)));
  } else {
    const Output shape = ShapeOf(c.input(0), c.input(1).dtype());
    const Output axes = NonNegativeAxes(c.input(1), Size(shape, c.input(1).dtype()));
    const Output sizes = Gather(shape, axes);
    count = Prod(sizes, AllAxes(sizes));
  }
  return gradient / Cast(count, gradient.dtype());
}

// Split evenly among the elements that equal the extreme.
void ExtremeGradient(GradientContext& c) {
  const Output kept = KeptShape(c), gradient = Reshape(c.grad(), kept);
  const Output chosen = Cast(Equal(Reshape(c.output(0), kept), c.input(0)), gradient.dtype());
  const Output count = Reshape(Sum(chosen, c.input(1)), kept);
  c.set(0, chosen / count * gradient);
}

// The product of the others, which division would not give where an element is zero: the product of
// those before times the product of those after, along the folded axes taken together.
void ProdGradient(GradientContext& c) {
  const Output x = c.input(0), shape = ShapeOf(x);
  const Output gradient = BroadcastTo(WithKeptDims(c, c.grad()), shape);
  const Output rank = Rank(x);
  const Output folded = NonNegativeAxes(Cast(Reshape(c.input(1), {-1}), DType::kInt32), rank);
  const Output kept = ListDiff(Range(Const(0), rank, Const(1)), folded).out;
  const Output order = Concat({folded, kept}, 0);
  const Output moved = Transpose(x, order);
  const Output matrix =
      Reshape(moved, Pack({Prod(Gather(shape, folded), 0), Prod(Gather(shape, kept), 0)}));
  const Output before = Cumprod(matrix, 0, {.exclusive = true});
  const Output after = Cumprod(matrix, 0, {.exclusive = true, .reverse = true});
  const Output others = Reshape(before * after, ShapeOf(moved));
  c.set(0, gradient * Transpose(others, InvertPermutation(order)));
}

void EuclideanNormGradient(GradientContext& c) {
  c.set(0, c.input(0) / (WithKeptDims(c, c.output(0)) / WithKeptDims(c, c.grad())));
}

const std::string kReductionOfNumbers =
    "keep_dims:bool=False; T:type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,"
    "quint8,qint32,bfloat16,qint16,quint16,uint16,complex128,half,uint32,uint64]; "
    "Tidx:type=int32 in [int32,int64]";
const std::string kReductionOfReals =
    "keep_dims:bool=False; T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,"
    "half,uint32,uint64,qint8,quint8,qint32,qint16,quint16]; Tidx:type=int32 in [int32,int64]";

OpDef Reduction(const char* name, const std::string& attrs, const char* doc) {
  return OpDef(name)
      .Inputs("input:T, reduction_indices:Tidx")
      .Outputs("output:T")
      .Attrs(attrs)
      .Doc(doc)
      .Shape(shapes::Reduction);
}

OpDef LogicalReduction(const char* name, const char* doc) {
  return OpDef(name)
      .Inputs("input:bool, reduction_indices:Tidx")
      .Outputs("output:bool")
      .Attrs("keep_dims:bool=False; Tidx:type=int32 in [int32,int64]")
      .Doc(doc)
      .Shape(shapes::Reduction)
      .NotDifferentiable("the result is a truth value");
}

}  // namespace

Output Sum(Output x, const IndexArg& axes, const ReduceOptions& options) {
  return Build("Sum", x, axes, options);
}
Output Mean(Output x, const IndexArg& axes, const ReduceOptions& options) {
  return Build("Mean", x, axes, options);
}
Output Prod(Output x, const IndexArg& axes, const ReduceOptions& options) {
  return Build("Prod", x, axes, options);
}
Output Max(Output x, const IndexArg& axes, const ReduceOptions& options) {
  return Build("Max", x, axes, options);
}
Output Min(Output x, const IndexArg& axes, const ReduceOptions& options) {
  return Build("Min", x, axes, options);
}
Output EuclideanNorm(Output x, const IndexArg& axes, const ReduceOptions& options) {
  return Build("EuclideanNorm", x, axes, options);
}
Output All(Output x, const IndexArg& axes, const ReduceOptions& options) {
  return Build("All", x, axes, options);
}
Output Any(Output x, const IndexArg& axes, const ReduceOptions& options) {
  return Build("Any", x, axes, options);
}

IndexArg AllAxes(Output x) {
  if (!x.shape().rank_known()) return Range(Const(0), Rank(x), Const(1));
  std::vector<int64_t> axes(x.shape().rank());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

Output ReducedShape(Output shape, Output axes) {
  const auto sizes = ConstantValue(shape), known = ConstantValue(axes);
  if (sizes && known) {
    std::vector<int64_t> kept = sizes->AsInt64s();
    for (int64_t axis : known->AsInt64s()) {
      kept[shapes::NormalizeAxis(axis, static_cast<int>(kept.size()))] = 1;
    }
    return ConstInts(kept);
  }
  const Output rank = Size(shape);
  const Output folded = NonNegativeAxes(Cast(axes, DType::kInt32), rank);
  return DynamicStitch({Range(Const(0), rank, Const(1)), folded},
                       {shape, Fill(ShapeOf(folded), Const(1))});
}

void RegisterReduce(OpRegistry& registry) {
  registry.Add(Reduction("Sum", kReductionOfNumbers, "Sum of the elements along the axes.")
                   .Gradient([](GradientContext& c) { c.set(0, SumGradient(c)); }));
  registry.Add(Reduction("Mean", kReductionOfNumbers,
                         "Mean of the elements along the axes; integers are divided towards zero.")
                   .Gradient([](GradientContext& c) { c.set(0, MeanGradient(c)); }));
  registry.Add(Reduction("Prod", kReductionOfNumbers, "Product of the elements along the axes.")
                   .Gradient(ProdGradient));
  registry.Add(
      Reduction("Max", kReductionOfReals, "Largest element along the axes; NaN where there is one.")
          .Gradient(ExtremeGradient));
  registry.Add(Reduction("Min", kReductionOfReals,
                         "Smallest element along the axes; NaN where there is one.")
                   .Gradient(ExtremeGradient));
  registry.Add(Reduction("EuclideanNorm", kReductionOfNumbers,
                         "Square root of the sum of squared absolute values along the axes.")
                   .Gradient(EuclideanNormGradient));
  registry.Add(LogicalReduction("All", "Whether all elements along the axes are true."));
  registry.Add(LogicalReduction("Any", "Whether any element along the axes is true."));
}

}  // namespace sextant

#include "sextant/ops/math/segment.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/select.h"

namespace sextant {
namespace {

Output Sorted(const char* op, Output data, Output ids) {
  return OpBuilder(op).Input(data).Input(ids).Build();
}
Output Unsorted(const char* op, Output data, Output ids, const IndexArg& num_segments) {
  return OpBuilder(op).Input(data).Input(ids).Input(num_segments.ToOutput()).Build();
}

void SegmentShape(ShapeContext& c) {
  PartialShape shape = c.InputOfRankAtLeast(0, 1);
  c.InputOfRank(1, 1);
  if (shape.rank_known()) {
    const auto ids = c.InputInts(1);
    const bool known = ids && (ids->empty() || ids->back() >= 0);
    shape.set_dim(0, !known ? PartialShape::kUnknown : ids->empty() ? 0 : ids->back() + 1);
  }
  c.set_output(0, shape);
}

void UnsortedSegmentShape(ShapeContext& c) {
  const PartialShape &data = c.input(0), &ids = c.input(1);
  const auto num_segments = c.InputInt(2);
  if (num_segments && *num_segments < 0) {
    throw InvalidArgument("Input num_segments == {} must not be negative.", *num_segments);
  }
  if (!data.rank_known() || !ids.rank_known()) return c.set_output(0, PartialShape());
  if (ids.rank() > data.rank() ||
      !ids.CompatibleWith(PartialShape(data.dims().first(ids.rank())))) {
    throw InvalidArgument("data.shape = {} does not start with segment_ids.shape = {}",
                          data.ToString(), ids.ToString());
  }
  PartialShape shape{num_segments.value_or(PartialShape::kUnknown)};
  for (int64_t size : data.dims().subspan(ids.rank())) shape.Append(size);
  c.set_output(0, shape);
}

// "x", whose dimensions are the first of those of "like", with dimensions of size 1 after them.
Output WithTrailingOnes(Output x, Output like) {
  const Output ones = Fill(Reshape(Rank(like) - Rank(x), {1}), Const(1));
  return Reshape(x, Concat({ShapeOf(x), ones}, 0));
}

void SegmentMeanGradient(GradientContext& c) {
  const Output ids = c.input(1), grad = c.grad();
  const Output rows =
      Fill(ShapeOf(WithTrailingOnes(ids, c.input(0))), Cast(Const(1), grad.dtype()));
  c.set(0, Gather(grad / SegmentSum(rows, ids), ids));
}

// Split evenly among the elements that equal the extreme of their segment.
void SegmentExtremeGradient(GradientContext& c) {
  const Output x = c.input(0), ids = c.input(1), grad = c.grad();
  const Output chosen = Equal(x, Gather(c.output(0), ids));
  const Output shared = grad / SegmentSum(Cast(chosen, grad.dtype()), ids);
  c.set(0, SelectV2(chosen, Gather(shared, ids), ZerosLike(x)));
}

// The product of the other elements of the segment: by division where no element is zero, and by a
// product that leaves zeros out where exactly one is.
template <typename Fold, typename Pick>
Output SegmentProdGradient(GradientContext& c, Fold fold, Pick pick) {
  const Output x = c.input(0);
  const Output zero = Equal(x, ZerosLike(x));
  const Output zeros = fold("Sum", Cast(zero, DType::kInt32));
  const Output grad = SelectV2(Greater(zeros, Const(1)), ZerosLike(c.grad()), c.grad());
  const Output safe = SelectV2(zero, OnesLike(x), x);
  const Output others = SelectV2(zero, pick(fold("Prod", safe)), pick(c.output(0)) / safe);
  return pick(grad) * others;
}

// Rows of "params" by id; zeros for negative ids.
class DroppingNegatives {
 public:
  explicit DroppingNegatives(Output ids)
      : ids_(ids), safe_(Maximum(ids, ZerosLike(ids))), valid_(GreaterEqual(ids, ZerosLike(ids))) {}

  Output operator()(Output params) const {
    const Output rows = Gather(params, safe_);
    return SelectV2(WithTrailingOnes(valid_, rows), rows, ZerosLike(rows));
  }
  // Whether the id of each element of x, which has as many rows as there are ids, is valid.
  Output Valid(Output x) const { return WithTrailingOnes(valid_, x); }

 private:
  Output ids_, safe_, valid_;
};

void UnsortedExtremeGradient(GradientContext& c) {
  const Output x = c.input(0), ids = c.input(1), grad = c.grad();
  const DroppingNegatives pick(ids);
  const Output chosen = LogicalAnd(Equal(x, pick(c.output(0))), pick.Valid(x));
  const Output shared = grad / UnsortedSegmentSum(Cast(chosen, grad.dtype()), ids, c.input(2));
  const Output rows = pick(shared);
  c.set(0, SelectV2(chosen, rows, ZerosLike(rows)));
}

const std::string kSegmentNumbers =
    "T:type in [float,double,int32,uint8,int16,int8,complex64,int64,qint8,quint8,qint32,bfloat16,"
    "qint16,quint16,uint16,complex128,half,uint32,uint64]; ";
const std::string kSegmentReals =
    "T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]; ";

OpDef SortedOp(const char* name, const std::string& types, const char* what) {
  return OpDef(name)
      .Inputs("data:T, segment_ids:Tindices")
      .Outputs("output:T")
      .Attrs(types + "Tindices:type in [int32,int64]")
      .Doc(std::string(what) + " of the rows with the same id; ids are sorted.")
      .Shape(SegmentShape);
}

OpDef UnsortedOp(const char* name, const std::string& types, const char* what,
                 const char* indices = "int32,int64") {
  return OpDef(name)
      .Inputs("data:T, segment_ids:Tindices, num_segments:Tnumsegments")
      .Outputs("output:T")
      .Attrs(types + "Tindices:type in [" + indices + "]; Tnumsegments:type=int32 in [int32,int64]")
      .Doc(std::string(what) + " of the slices with the same id; negative ids are left out.")
      .Shape(UnsortedSegmentShape);
}

}  // namespace

Output SegmentSum(Output data, Output ids) { return Sorted("SegmentSum", data, ids); }
Output SegmentMean(Output data, Output ids) { return Sorted("SegmentMean", data, ids); }
Output SegmentMax(Output data, Output ids) { return Sorted("SegmentMax", data, ids); }
Output SegmentMin(Output data, Output ids) { return Sorted("SegmentMin", data, ids); }
Output SegmentProd(Output data, Output ids) { return Sorted("SegmentProd", data, ids); }

Output UnsortedSegmentSum(Output data, Output ids, const IndexArg& num_segments) {
  return Unsorted("UnsortedSegmentSum", data, ids, num_segments);
}
Output UnsortedSegmentMax(Output data, Output ids, const IndexArg& num_segments) {
  return Unsorted("UnsortedSegmentMax", data, ids, num_segments);
}
Output UnsortedSegmentMin(Output data, Output ids, const IndexArg& num_segments) {
  return Unsorted("UnsortedSegmentMin", data, ids, num_segments);
}
Output UnsortedSegmentProd(Output data, Output ids, const IndexArg& num_segments) {
  return Unsorted("UnsortedSegmentProd", data, ids, num_segments);
}

void RegisterSegment(OpRegistry& registry) {
  registry.Add(SortedOp("SegmentSum", kSegmentNumbers, "Sum").Gradient([](GradientContext& c) {
    c.set(0, Gather(c.grad(), c.input(1)));
  }));
  registry.Add(SortedOp("SegmentMean", kSegmentNumbers, "Mean").Gradient(SegmentMeanGradient));
  registry.Add(SortedOp("SegmentMax", kSegmentReals, "Largest").Gradient(SegmentExtremeGradient));
  registry.Add(SortedOp("SegmentMin", kSegmentReals, "Smallest").Gradient(SegmentExtremeGradient));
  registry.Add(SortedOp("SegmentProd", kSegmentNumbers, "Product").Gradient([](GradientContext& c) {
    const Output ids = c.input(1);
    const auto fold = [&](std::string_view how, Output x) {
      return how == "Sum" ? SegmentSum(x, ids) : SegmentProd(x, ids);
    };
    c.set(0, SegmentProdGradient(c, fold, [&](Output x) { return Gather(x, ids); }));
  }));
  registry.Add(
      UnsortedOp("UnsortedSegmentSum", kSegmentNumbers, "Sum", "int16,int32,int64")
          .Gradient([](GradientContext& c) { c.set(0, DroppingNegatives(c.input(1))(c.grad())); }));
  registry.Add(
      UnsortedOp("UnsortedSegmentMax", kSegmentReals, "Largest").Gradient(UnsortedExtremeGradient));
  registry.Add(UnsortedOp("UnsortedSegmentMin", kSegmentReals, "Smallest")
                   .Gradient(UnsortedExtremeGradient));
  registry.Add(UnsortedOp("UnsortedSegmentProd", kSegmentNumbers, "Product")
                   .Gradient([](GradientContext& c) {
                     const auto fold = [&](std::string_view how, Output x) {
                       return how == "Sum" ? UnsortedSegmentSum(x, c.input(1), c.input(2))
                                           : UnsortedSegmentProd(x, c.input(1), c.input(2));
                     };
                     c.set(0, SegmentProdGradient(c, fold, DroppingNegatives(c.input(1))));
                   }));
}

}  // namespace sextant

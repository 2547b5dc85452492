#include "sextant/ops/array/top_k.h"

#include <optional>
#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/scatter.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice.h"

namespace sextant {
namespace {

void SetTopKShape(ShapeContext& c, std::optional<int64_t> k) {
  PartialShape shape = c.InputOfRankAtLeast(0, 1);
  if (k && *k < 0) throw InvalidArgument("need k >= 0, got {}", *k);
  if (shape.rank_known()) {
    const int last = shape.rank() - 1;
    if (k && shape[last] != PartialShape::kUnknown && shape[last] < *k) {
      throw InvalidArgument("input must have at least k columns. Had {}, needed {}", shape[last],
                            *k);
    }
    shape.set_dim(last, k.value_or(PartialShape::kUnknown));
  }
  c.set_output(0, shape);
  c.set_output(1, std::move(shape));
}

// Each gradient goes back to where its value was taken from.
void TopKGradient(GradientContext& c) {
  const auto apply = [](const char* op, Output a, Output b) {
    return OpBuilder(op).Input(a).Input(b).Build();
  };
  const auto int64_of = [](Output x) {
    if (x.dtype() == DType::kInt64) return x;
    return OpBuilder("Cast").Input(x).Attr("DstT", DType::kInt64).Build();
  };
  const Output x_shape = ShapeOf(c.input(0), DType::kInt64);
  const Output k_shape = ShapeOf(c.output(1), DType::kInt64);
  const Output columns = StridedSlice(x_shape, {-1});
  const Output row_count =
      apply("Prod", StridedSlice(x_shape, {SliceRange(0, -1)}), ConstInts({0}));
  const Output row_start = apply("Mul",
                                 OpBuilder("Range")
                                     .Input(Const(Tensor(int64_t{0})))
                                     .Input(row_count)
                                     .Input(Const(Tensor(int64_t{1})))
                                     .Build(),
                                 columns);
  const Output rows =
      Concat({Reshape(row_count, {1}), StridedSlice(k_shape, {SliceRange(-1, std::nullopt)})}, 0);
  const Output positions =
      apply("AddV2", Reshape(int64_of(c.output(1)), rows), ExpandDims(row_start, -1));
  const Output flat = ScatterNd(Reshape(positions, {-1, 1}), Reshape(c.grad(0), {-1}),
                                Reshape(Size(c.input(0), DType::kInt64), {1}));
  c.set(0, Reshape(flat, x_shape));
}

const char* const kTypes =
    "T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64]";

}  // namespace

TopKOutputs TopK(Output x, const IndexArg& k, bool sorted) {
  const auto out =
      OpBuilder("TopKV2").Input(x).Input(k.ToOutput()).Attr("sorted", sorted).BuildAll();
  return {out[0], out[1]};
}

void RegisterTopK(OpRegistry& registry) {
  const std::string types = kTypes;
  registry.Add(OpDef("TopK")
                   .Inputs("input:T")
                   .Outputs("values:T, indices:int32")
                   .Attrs("k:int>=0; sorted:bool=True; " + types)
                   .Deprecated(7)
                   .Doc("The k largest elements along the last dimension; graphs use TopKV2.")
                   .Shape([](ShapeContext& c) { SetTopKShape(c, c.attr<int64_t>("k")); })
                   .Gradient(TopKGradient));
  registry.Add(OpDef("TopKV2")
                   .Inputs("input:T, k:Tk")
                   .Outputs("values:T, indices:index_type")
                   .Attrs("sorted:bool=True; " + types +
                          "; Tk:type=int32 in [int16,int32,int64]; "
                          "index_type:type=int32 in [int16,int32,int64]")
                   .Doc("The k largest elements along the last dimension, largest first, and "
                        "their positions; of equal elements the first comes first.")
                   .Shape([](ShapeContext& c) { SetTopKShape(c, c.InputInt(1)); })
                   .Gradient(TopKGradient));
}

}  // namespace sextant

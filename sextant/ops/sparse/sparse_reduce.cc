#include "sextant/ops/sparse/sparse_reduce.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/state/number_types.h"

namespace sextant {
namespace {

void DenseResultShape(ShapeContext& c) {
  const PartialShape shape = c.InputAsShape(2);
  const auto axes = c.InputInts(3);
  if (!shape.rank_known() || !axes) return c.set_output(0, PartialShape());
  std::vector<bool> reduced(static_cast<size_t>(shape.rank()));
  for (int64_t axis : *axes) reduced[shapes::NormalizeAxis(axis, shape.rank())] = true;
  PartialShape result(std::vector<int64_t>{});
  for (int d = 0; d < shape.rank(); ++d) {
    if (!reduced[d]) {
      result.Append(shape[d]);
    } else if (c.attr<bool>("keep_dims")) {
      result.Append(1);
    }
  }
  c.set_output(0, std::move(result));
}

void SparseResultShape(ShapeContext& c) {
  c.set_output(0, {PartialShape::kUnknown, PartialShape::kUnknown});
  c.set_output(1, {PartialShape::kUnknown});
  c.set_output(2, {PartialShape::kUnknown});
}

// Every entry gets the gradient of the element that it went into.
void SumGradient(GradientContext& c) {
  const Output shape = c.input(2);
  const Output kept = ReducedShape(Cast(shape, DType::kInt32), c.input(3));
  // Sizes are at least 1 where there is an entry; elsewhere they must only not be 0.
  const Output one = Const(Tensor(int64_t{1}));
  const Output scale = FloorDiv(Maximum(shape, one), Maximum(Cast(kept, DType::kInt64), one));
  c.set(1, GatherNd(Reshape(c.grad(), kept), FloorDiv(c.input(0), scale)));
}

std::vector<Output> Build(const char* op, const SparseTensor& x, const IndexArg& axes,
                          const ReduceOptions& options) {
  return OpBuilder(op)
      .Input(x.indices)
      .Input(x.values)
      .Input(x.dense_shape)
      .Input(axes.ToOutput(DType::kInt32))
      .Attr("keep_dims", options.keep_dims)
      .BuildAll();
}

}  // namespace

Output SparseReduceSum(const SparseTensor& x, const IndexArg& axes, const ReduceOptions& options) {
  return Build("SparseReduceSum", x, axes, options)[0];
}
Output SparseReduceMax(const SparseTensor& x, const IndexArg& axes, const ReduceOptions& options) {
  return Build("SparseReduceMax", x, axes, options)[0];
}
SparseTensor SparseReduceSumSparse(const SparseTensor& x, const IndexArg& axes,
                                   const ReduceOptions& options) {
  const std::vector<Output> outputs = Build("SparseReduceSumSparse", x, axes, options);
  return {outputs[0], outputs[1], outputs[2]};
}
SparseTensor SparseReduceMaxSparse(const SparseTensor& x, const IndexArg& axes,
                                   const ReduceOptions& options) {
  const std::vector<Output> outputs = Build("SparseReduceMaxSparse", x, axes, options);
  return {outputs[0], outputs[1], outputs[2]};
}

void RegisterSparseReduce(OpRegistry& registry) {
  const std::string inputs =
      "input_indices:int64, input_values:T, input_shape:int64, reduction_axes:int32";
  const std::string number = std::string("keep_dims:bool=False; T:type in [") + kNumberTypes + "]";
  const std::string real =
      "keep_dims:bool=False; T:type in [float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,"
      "half,uint32,uint64]";
  const std::string sparse = "output_indices:int64, output_values:T, output_shape:int64";
  registry.Add(OpDef("SparseReduceSum")
                   .Inputs(inputs)
                   .Outputs("output:T")
                   .Attrs(number)
                   .Doc("Sum of the entries along reduction_axes, as a dense tensor.")
                   .Shape(DenseResultShape)
                   .Gradient(SumGradient));
  registry.Add(OpDef("SparseReduceSumSparse")
                   .Inputs(inputs)
                   .Outputs(sparse)
                   .Attrs(number)
                   .Doc("Sum of the entries along reduction_axes, as a sparse tensor.")
                   .Shape(SparseResultShape)
                   .GradientForbidden("TensorFlow defines none; use SparseReduceSum"));
  registry.Add(
      OpDef("SparseReduceMax")
          .Inputs(inputs)
          .Outputs("output:T")
          .Attrs(real)
          .Doc("Largest of the entries along reduction_axes, as a dense tensor with 0 where "
               "there are none.")
          .Shape(DenseResultShape)
          .GradientForbidden("TensorFlow defines none"));
  registry.Add(OpDef("SparseReduceMaxSparse")
                   .Inputs(inputs)
                   .Outputs(sparse)
                   .Attrs(real)
                   .Doc("Largest of the entries along reduction_axes, as a sparse tensor.")
                   .Shape(SparseResultShape)
                   .GradientForbidden("TensorFlow defines none"));
}

}  // namespace sextant

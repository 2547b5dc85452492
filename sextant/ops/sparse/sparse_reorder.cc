#include "sextant/ops/sparse/sparse_reorder.h"

#include <vector>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/math/range.h"

namespace sextant {
namespace {

void ReorderShape(ShapeContext& c) {
  const PartialShape indices = c.InputOfRank(0, 2);
  const PartialShape values = c.InputOfRank(1, 1);
  const PartialShape shape = c.InputOfRank(2, 1);
  const int64_t count = PartialShape{indices[0]}.MergeWith(values)[0];
  c.set_output(0, {count, PartialShape{indices[1]}.MergeWith(shape)[0]});
  c.set_output(1, {count});
}

void ReshapeShape(ShapeContext& c) {
  const PartialShape indices = c.InputOfRank(0, 2);
  c.InputOfRank(1, 1);
  const PartialShape new_shape = c.InputOfRank(2, 1);
  c.set_output(0, {indices[0], new_shape[0]});
  c.set_output(1, new_shape);
}

// The entries' numbers, reordered like the entries, tell where each gradient belongs.
void ReorderGradient(GradientContext& c) {
  const Output indices = c.input(0);
  const Output count = StridedSlice(ShapeOf(indices), {0});
  const Output numbers = Range(Const(Tensor(int32_t{0})), count, Const(Tensor(int32_t{1})));
  const Output order = SparseReorder({indices, numbers, c.input(2)}).values;
  c.set(1, Gather(c.grad(1), InvertPermutation(order)));
}

}  // namespace

SparseTensor SparseReorder(const SparseTensor& sparse) {
  const std::vector<Output> outputs = OpBuilder("SparseReorder")
                                          .Input(sparse.indices)
                                          .Input(sparse.values)
                                          .Input(sparse.dense_shape)
                                          .BuildAll();
  return {outputs[0], outputs[1], sparse.dense_shape};
}
SparseTensor SparseReshape(const SparseTensor& sparse, const IndexArg& new_shape) {
  const std::vector<Output> outputs = OpBuilder("SparseReshape")
                                          .Input(sparse.indices)
                                          .Input(sparse.dense_shape)
                                          .Input(new_shape.ToVector(DType::kInt64))
                                          .BuildAll();
  return {outputs[0], sparse.values, outputs[1]};
}

void RegisterSparseReorder(OpRegistry& registry) {
  registry.Add(OpDef("SparseReorder")
                   .Inputs("input_indices:int64, input_values:T, input_shape:int64")
                   .Outputs("output_indices:int64, output_values:T")
                   .Attrs("T:type")
                   .Doc("The entries in the lexicographic order of their indices.")
                   .Shape(ReorderShape)
                   .Gradient(ReorderGradient));
  registry.Add(
      OpDef("SparseReshape")
          .Inputs("input_indices:int64, input_shape:int64, new_shape:int64")
          .Outputs("output_indices:int64, output_shape:int64")
          .Doc("Indices of the same elements, in row-major order, under another shape; one "
               "size of new_shape may be -1.")
          .Shape(ReshapeShape)
          .NotDifferentiable("indices are integers"));
}

}  // namespace sextant

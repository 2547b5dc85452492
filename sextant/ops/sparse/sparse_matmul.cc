#include "sextant/ops/sparse/sparse_matmul.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/reduce.h"

namespace sextant {
namespace {

void SparseMatMulShape(ShapeContext& c) {
  c.InputOfRank(0, 2);
  c.InputOfRank(1, 1);
  const PartialShape a = c.InputAsShape(2);
  const PartialShape b = c.InputOfRank(3, 2);
  if (a.rank_known() && a.rank() != 2) {
    throw InvalidArgument("a_shape must have 2 elements, got {}", a.rank());
  }
  const bool adjoint_a = c.attr<bool>("adjoint_a"), adjoint_b = c.attr<bool>("adjoint_b");
  const int64_t rows = a.rank_known() ? a[adjoint_a ? 1 : 0] : PartialShape::kUnknown;
  const int64_t inner = a.rank_known() ? a[adjoint_a ? 0 : 1] : PartialShape::kUnknown;
  PartialShape{inner}.MergeWith(PartialShape{b[adjoint_b ? 1 : 0]});
  c.set_output(0, {rows, b[adjoint_b ? 0 : 1]});
}

// Only the given elements of a get a gradient: row of grad times row of b for each.
void SparseMatMulGradient(GradientContext& c) {
  const Output indices = c.input(0), b = c.input(3), grad = c.grad();
  const bool adjoint_a = c.attr<bool>("adjoint_a"), adjoint_b = c.attr<bool>("adjoint_b");
  if (c.wanted(1)) {
    const Output rows = StridedSlice(indices, {SliceAll(), adjoint_a ? 1 : 0});
    const Output inner = StridedSlice(indices, {SliceAll(), adjoint_a ? 0 : 1});
    const Output b_rows = Gather(adjoint_b ? Transpose(b, {1, 0}) : b, inner);
    c.set(1, Sum(Mul(Gather(grad, rows), b_rows), {1}));
  }
  if (c.wanted(3)) {
    const Output grad_b =
        SparseTensorDenseMatMul({indices, c.input(1), c.input(2)}, grad, {.adjoint_a = !adjoint_a});
    c.set(3, adjoint_b ? Transpose(grad_b, {1, 0}) : grad_b);
  }
}

}  // namespace

Output SparseTensorDenseMatMul(const SparseTensor& a, Output b,
                               const SparseTensorDenseMatMulOptions& options) {
  return OpBuilder("SparseTensorDenseMatMul")
      .Input(a.indices)
      .Input(a.values)
      .Input(a.dense_shape)
      .Input(b)
      .Attr("adjoint_a", options.adjoint_a)
      .Attr("adjoint_b", options.adjoint_b)
      .Build();
}

void RegisterSparseMatmul(OpRegistry& registry) {
  registry.Add(OpDef("SparseTensorDenseMatMul")
                   .Inputs("a_indices:Tindices, a_values:T, a_shape:int64, b:T")
                   .Outputs("product:T")
                   .Attrs("T:type; Tindices:type=int64 in [int32,int64]; adjoint_a:bool=False; "
                          "adjoint_b:bool=False")
                   .Doc("Product of the sparse matrix a and the dense matrix b, each transposed "
                        "first if asked.")
                   .Shape(SparseMatMulShape)
                   .Gradient(SparseMatMulGradient));
}

}  // namespace sextant

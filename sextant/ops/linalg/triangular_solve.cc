#include "sextant/ops/linalg/triangular_solve.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/array/broadcast_to.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/linalg/matrix_batch.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/matrix_diag.h"
#include "sextant/ops/math/reduce.h"

namespace sextant {
namespace {

void TriangularSolveShape(ShapeContext& c) {
  const PartialShape matrices = BatchShape(c, 0), rhs = BatchShape(c, 1);
  int64_t rows = MergeDims(MatrixDim(c, 0, -2), MatrixDim(c, 0, -1));
  rows = MergeDims(rows, MatrixDim(c, 1, -2));
  if (!matrices.rank_known() || !rhs.rank_known()) return;
  c.set_output(0, AppendDims(shapes::Broadcast(matrices, rhs), {rows, MatrixDim(c, 1, -1)}));
}

// The gradient of x summed over the batch dimensions in which x was repeated.
Output SumBatches(Output x, Output other, Output gradient) {
  const PartialShape& a = x.shape();
  const PartialShape& b = other.shape();
  if (a.rank_known() && b.rank_known() && a.rank() == 2 && b.rank() == 2) return gradient;
  const auto batch_of = [](Output t) { return StridedSlice(ShapeOf(t), {SliceRange(0, -2)}); };
  const Output axes = BroadcastGradientArgs(batch_of(x), batch_of(other)).first;
  return Reshape(Sum(gradient, axes), ShapeOf(x));
}

void TriangularSolveGradient(GradientContext& c) {
  const bool lower = c.attr<bool>("lower"), adjoint = c.attr<bool>("adjoint");
  const Output a = c.input(0), b = c.input(1), x = c.output(0);
  const Output grad_b = MatrixTriangularSolve(a, c.grad(), {.lower = lower, .adjoint = !adjoint});
  if (c.wanted(0)) {
    const Output full =
        adjoint ? BatchMatMul(x, grad_b, {.adj_y = true}) : BatchMatMul(grad_b, x, {.adj_y = true});
    const Output half = lower ? MatrixBandPart(-full, -1, 0) : MatrixBandPart(-full, 0, -1);
    c.set(0, SumBatches(a, b, half));
  }
  c.set(1, SumBatches(b, a, grad_b));
}

}  // namespace

Output MatrixTriangularSolve(Output matrix, Output rhs, const TriangularSolveOptions& options) {
  return OpBuilder("MatrixTriangularSolve")
      .Input(matrix)
      .Input(rhs)
      .Attr("lower", options.lower)
      .Attr("adjoint", options.adjoint)
      .Build();
}

void RegisterTriangularSolve(OpRegistry& registry) {
  registry.Add(OpDef("MatrixTriangularSolve")
                   .Inputs("matrix:T, rhs:T")
                   .Outputs("output:T")
                   .Attrs("lower:bool=True; adjoint:bool=False; "
                          "T:type in [bfloat16,double,float,half,complex64,complex128]")
                   .Doc("Solves systems of linear equations with triangular matrices.")
                   .Shape(TriangularSolveShape)
                   .Gradient(TriangularSolveGradient));
}

}  // namespace sextant

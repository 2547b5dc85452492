#include "sextant/ops/linalg/qr.h"

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/linalg/matrix_batch.h"
#include "sextant/ops/linalg/triangular_solve.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/matrix_diag.h"

namespace sextant {
namespace {

void QrShape(ShapeContext& c) {
  const PartialShape batch = BatchShape(c);
  const int64_t rows = MatrixDim(c, 0, -2), columns = MatrixDim(c, 0, -1);
  const bool known = rows >= 0 && columns >= 0;
  const int64_t rank = c.attr<bool>("full_matrices") ? rows
                       : known                       ? std::min(rows, columns)
                                                     : PartialShape::kUnknown;
  c.set_output(0, AppendDims(batch, {rows, rank}));
  c.set_output(1, AppendDims(batch, {rank, columns}));
}

// x r^-H
Output RightSolve(Output x, Output r) {
  return Adjoint(MatrixTriangularSolve(r, Adjoint(x), {.lower = false}));
}

// Of a matrix that is not wider than high: Q (dR + tril(Q^H dQ - dQ^H Q + R dR^H - dR R^H) R^-H)
// and (dQ - Q Q^H dQ) R^-H added up.
Output TallGradient(Output q, Output r, Output dq, Output dr) {
  const Output qdq = BatchMatMul(q, dq, {.adj_x = true});
  const Output rdr = BatchMatMul(r, dr, {.adj_y = true});
  const Output lower = MatrixBandPart((qdq - Adjoint(qdq)) + (rdr - Adjoint(rdr)), -1, 0);
  return BatchMatMul(q, dr + RightSolve(lower, r)) + RightSolve(dq - BatchMatMul(q, qdq), r);
}

// The first "count" columns and the rest.
std::pair<Output, Output> SplitColumns(Output x, Output count) {
  const Output columns = StridedSlice(ShapeOf(x), {-1});
  const auto parts = OpBuilder("SplitV")
                         .Input(x)
                         .Input(Concat({ExpandDims(count, 0), ExpandDims(columns - count, 0)}, 0))
                         .Input(Const(Tensor(-1)))
                         .Attr("num_split", 2)
                         .BuildAll();
  return {parts[0], parts[1]};
}

// x = [x1 y] = q [u v]: x1 = q u is not wider than high, y = q v, which may have no columns.
void QrGradient(GradientContext& c) {
  const Output x = c.input(0), q = c.output(0), r = c.output(1);
  if (IsComplex(x.dtype())) throw Unimplemented("the gradient of Qr of complex matrices");
  const PartialShape& shape = x.shape();
  const int64_t rows = shape.rank_known() ? shape[shape.rank() - 2] : -1;
  const int64_t columns = shape.rank_known() ? shape[shape.rank() - 1] : -1;
  if (c.attr<bool>("full_matrices") && (rows < 0 || columns < 0 || rows > columns)) {
    throw Unimplemented("the gradient of Qr with full matrices of shape {}", shape.ToString());
  }
  const Output rank = StridedSlice(ShapeOf(q), {-1});
  const auto [du, dv] = SplitColumns(c.grad(1), rank);
  const Output u = SplitColumns(r, rank).first, y = SplitColumns(x, rank).second;
  const Output dq = c.grad(0) + BatchMatMul(y, dv, {.adj_y = true});
  c.set(0, Concat({TallGradient(q, u, dq, du), BatchMatMul(q, dv)}, -1));
}

}  // namespace

std::pair<Output, Output> Qr(Output x, bool full_matrices) {
  const auto outputs = OpBuilder("Qr").Input(x).Attr("full_matrices", full_matrices).BuildAll();
  return {outputs[0], outputs[1]};
}

void RegisterQr(OpRegistry& registry) {
  registry.Add(OpDef("Qr")
                   .Inputs("input:T")
                   .Outputs("q:T, r:T")
                   .Attrs("full_matrices:bool=False; "
                          "T:type in [double,float,half,complex64,complex128]")
                   .Doc("The QR decompositions of matrices.")
                   .Shape(QrShape)
                   .Gradient(QrGradient));
}

}  // namespace sextant

#include "sextant/ops/linalg/svd.h"

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/strided_slice.h"
#include "sextant/ops/linalg/matrix_batch.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/matrix_diag.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

void SvdShape(ShapeContext& c) {
  const PartialShape batch = BatchShape(c);
  const int64_t rows = MatrixDim(c, 0, -2), columns = MatrixDim(c, 0, -1);
  const int64_t rank = rows >= 0 && columns >= 0 ? std::min(rows, columns) : PartialShape::kUnknown;
  const bool full = c.attr<bool>("full_matrices"), compute_uv = c.attr<bool>("compute_uv");
  c.set_output(0, AppendDims(batch, {rank}));
  c.set_output(1, compute_uv ? AppendDims(batch, {rows, full ? rows : rank}) : PartialShape{0});
  c.set_output(2,
               compute_uv ? AppendDims(batch, {columns, full ? columns : rank}) : PartialShape{0});
}

Output Columns(Output x, std::optional<int64_t> begin, std::optional<int64_t> end) {
  return StridedSlice(x, {Ellipsis(), SliceAll(), SliceRange(begin, end)});
}

Output PlusAdjoint(Output x) { return x + Adjoint(x); }

struct Factors {
  Output s, u, v, ds, du, dv;
};

// The gradient of a matrix of m rows and n >= m columns.
Output WideGradient(const Factors& f, int64_t m, int64_t n, bool full_matrices) {
  const Output s_diag = MatrixDiag(f.s), squares = Square(f.s);
  const Output gaps = MatrixSetDiag(
      SafeReciprocal(ExpandDims(squares, -2) - ExpandDims(squares, -1)), ZerosLike(f.s));
  const Output v1 = Columns(f.v, {}, m), dv1 = Columns(f.dv, {}, m);
  const Output from_u = PlusAdjoint(gaps * BatchMatMul(f.u, f.du, {.adj_x = true}));
  const Output from_v = PlusAdjoint(gaps * BatchMatMul(v1, dv1, {.adj_x = true}));
  const Output inner = MatrixDiag(f.ds) + BatchMatMul(from_u, s_diag) + BatchMatMul(s_diag, from_v);
  const Output within = BatchMatMul(f.u, BatchMatMul(inner, v1, {.adj_y = true}));
  if (m == n) return within;
  // The part of dv outside the space that v1 spans.
  const Output dv1_t = Adjoint(dv1);
  Output outside = dv1_t - BatchMatMul(BatchMatMul(dv1_t, v1), v1, {.adj_y = true});
  if (full_matrices) {
    const Output v2 = Columns(f.v, m, n), dv2 = Columns(f.dv, m, n);
    outside = outside - BatchMatMul(BatchMatMul(v1, dv2, {.adj_x = true}), v2, {.adj_y = true});
  }
  const Output u_over_s = BatchMatMul(f.u, MatrixDiag(SafeReciprocal(f.s)));
  return within + BatchMatMul(u_over_s, outside);
}

void SvdGradient(GradientContext& c) {
  const Output x = c.input(0);
  if (IsComplex(x.dtype())) throw Unimplemented("the gradient of Svd of complex matrices");
  const bool full = c.attr<bool>("full_matrices");
  if (!c.attr<bool>("compute_uv") || (!c.has_gradient(1) && !c.has_gradient(2))) {
    const SvdResult thin = c.attr<bool>("compute_uv") && !full
                               ? SvdResult{c.output(0), c.output(1), c.output(2)}
                               : Svd(x);
    c.set(0, BatchMatMul(thin.u, BatchMatMul(MatrixDiag(c.grad(0)), thin.v, {.adj_y = true})));
    return;
  }
  const PartialShape& shape = x.shape();
  const int64_t rows = shape.rank_known() ? shape[shape.rank() - 2] : -1;
  const int64_t columns = shape.rank_known() ? shape[shape.rank() - 1] : -1;
  if (rows < 0 || columns < 0) {
    throw Unimplemented("the gradient of Svd of matrices whose size {} is not known",
                        shape.ToString());
  }
  if (full && std::abs(rows - columns) > 1) {
    throw Unimplemented("the gradient of Svd with full matrices of {} rows and {} columns", rows,
                        columns);
  }
  Factors f{c.output(0), c.output(1), c.output(2), c.grad(0), c.grad(1), c.grad(2)};
  if (rows <= columns) {
    c.set(0, WideGradient(f, rows, columns, full));
    return;
  }
  std::swap(f.u, f.v);
  std::swap(f.du, f.dv);
  c.set(0, Adjoint(WideGradient(f, columns, rows, full)));
}

}  // namespace

SvdResult Svd(Output x, const SvdOptions& options) {
  const auto outputs = OpBuilder("Svd")
                           .Input(x)
                           .Attr("compute_uv", options.compute_uv)
                           .Attr("full_matrices", options.full_matrices)
                           .BuildAll();
  return {outputs[0], outputs[1], outputs[2]};
}

void RegisterSvd(OpRegistry& registry) {
  registry.Add(OpDef("Svd")
                   .Inputs("input:T")
                   .Outputs("s:T, u:T, v:T")
                   .Attrs("compute_uv:bool=True; full_matrices:bool=False; "
                          "T:type in [double,float,half,complex64,complex128]")
                   .Doc("The singular value decompositions of matrices.")
                   .Shape(SvdShape)
                   .Gradient(SvdGradient));
}

}  // namespace sextant

#include "sextant/ops/linalg/self_adjoint_eig.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/linalg/matrix_batch.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/matrix_diag.h"

namespace sextant {
namespace {

void EigShape(ShapeContext& c) {
  const PartialShape batch = BatchShape(c);
  const int64_t size = MergeDims(MatrixDim(c, 0, -2), MatrixDim(c, 0, -1));
  c.set_output(0, AppendDims(batch, {size}));
  c.set_output(1, c.attr<bool>("compute_v") ? AppendDims(batch, {size, size}) : PartialShape{0});
}

// V (diag(de) + F * V^H dV) V^H with F_ij = 1 / (e_j - e_i), folded into the lower half.
void EigGradient(GradientContext& c) {
  const bool has_v = c.attr<bool>("compute_v");
  const Output e = c.output(0);
  const Output v = has_v ? c.output(1) : SelfAdjointEig(c.input(0)).second;
  Output inner = MatrixDiag(c.grad(0));
  if (has_v && c.has_gradient(1)) {
    const Output difference = ExpandDims(e, -2) - ExpandDims(e, -1);
    const Output f = MatrixSetDiag(SafeReciprocal(difference), ZerosLike(e));
    inner = inner + f * BatchMatMul(v, c.grad(1), {.adj_x = true});
  }
  const Output full = BatchMatMul(v, BatchMatMul(inner, v, {.adj_y = true}));
  const Output lower = MatrixBandPart(full + Adjoint(full), -1, 0);
  c.set(0, MatrixSetDiag(lower, MatrixDiagPart(lower) * 0.5));
}

}  // namespace

std::pair<Output, Output> SelfAdjointEig(Output x, bool compute_v) {
  const auto outputs =
      OpBuilder("SelfAdjointEigV2").Input(x).Attr("compute_v", compute_v).BuildAll();
  return {outputs[0], outputs[1]};
}

void RegisterSelfAdjointEig(OpRegistry& registry) {
  registry.Add(OpDef("SelfAdjointEigV2")
                   .Inputs("input:T")
                   .Outputs("e:T, v:T")
                   .Attrs("compute_v:bool=True; "
                          "T:type in [double,float,half,complex64,complex128]")
                   .Doc("Eigenvalues and eigenvectors of self-adjoint matrices.")
                   .Shape(EigShape)
                   .Gradient(EigGradient));
}

}  // namespace sextant

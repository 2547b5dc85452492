#include "sextant/ops/linalg/cholesky.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/linalg/matrix_batch.h"
#include "sextant/ops/linalg/triangular_solve.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/matrix_diag.h"

namespace sextant {
namespace {

// With P = lower half of L^H dL, its diagonal halved: dA = sym(L^-H P L^-1).
void CholeskyGradient(GradientContext& c) {
  const Output l = c.output(0);
  const Output identity = MatrixDiag(OnesLike(MatrixDiagPart(l)));
  const Output inverse = MatrixTriangularSolve(l, identity);
  Output middle = BatchMatMul(l, c.grad(), {.adj_x = true});
  middle = MatrixSetDiag(middle, MatrixDiagPart(middle) * 0.5);
  middle = MatrixBandPart(middle, -1, 0);
  const Output grad = BatchMatMul(BatchMatMul(inverse, middle, {.adj_x = true}), inverse);
  c.set(0, (grad + Adjoint(grad)) * 0.5);
}

}  // namespace

Output Cholesky(Output x) { return OpBuilder("Cholesky").Input(x).Build(); }

void RegisterCholesky(OpRegistry& registry) {
  registry.Add(OpDef("Cholesky")
                   .Inputs("input:T")
                   .Outputs("output:T")
                   .Attrs("T:type in [double,float,half,complex64,complex128]")
                   .Doc("The lower triangular factors of positive definite matrices.")
                   .Shape(SquareUnchanged)
                   .Gradient(CholeskyGradient));
  registry.Add(OpDef("CholeskyGrad")
                   .Inputs("l:T, grad:T")
                   .Outputs("output:T")
                   .Attrs("T:type in [half,float,double]")
                   .Doc("The gradient of Cholesky with respect to its input, from its output l.")
                   .Shape(SquareUnchanged)
                   .NotDifferentiable("TensorFlow defines no gradient"));
}

}  // namespace sextant

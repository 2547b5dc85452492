#include "sextant/ops/linalg/matrix_solve.h"

#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/ops/linalg/matrix_batch.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"

namespace sextant {
namespace {

const std::string kType = "T:type in [double,float,half,complex64,complex128]";
const std::string kHalfFirst = "T:type in [half,float,double,complex64,complex128]";

void CheckSquareInput(ShapeContext& c) { MergeDims(MatrixDim(c, 0, -2), MatrixDim(c, 0, -1)); }

void DeterminantShape(ShapeContext& c) {
  const PartialShape batch = BatchShape(c);
  CheckSquareInput(c);
  for (int i = 0; i < c.num_outputs(); ++i) c.set_output(i, batch);
}

void SolveShape(ShapeContext& c) {
  const PartialShape batch = BatchShape(c, 0).MergeWith(BatchShape(c, 1));
  const int64_t rows = MergeDims(MatrixDim(c, 0, -2), MatrixDim(c, 0, -1));
  c.set_output(0, AppendDims(batch, {MergeDims(rows, MatrixDim(c, 1, -2)), MatrixDim(c, 1, -1)}));
}

void LuShape(ShapeContext& c) {
  SquareUnchanged(c);
  c.set_output(1, AppendDims(BatchShape(c), {MergeDims(MatrixDim(c, 0, -2), MatrixDim(c, 0, -1))}));
}

// d(A^-1) = -A^-1 dA A^-1
void InverseGradient(GradientContext& c) {
  const Output inverse = c.output(0);
  const bool adjoint = c.attr<bool>("adjoint");
  const Output inner = BatchMatMul(c.grad(), inverse, {.adj_x = adjoint, .adj_y = !adjoint});
  c.set(0, -BatchMatMul(inverse, inner, {.adj_x = !adjoint}));
}

// d det A = det A tr(A^-1 dA)
void DeterminantGradient(GradientContext& c) {
  c.set(0, PerMatrix(c.grad() * c.output(0)) * MatrixInverse(c.input(0), true));
}

void LogDeterminantGradient(GradientContext& c) {
  c.set(0, PerMatrix(c.grad(1)) * MatrixInverse(c.input(0), true));
}

void SolveGradient(GradientContext& c) {
  const bool adjoint = c.attr<bool>("adjoint");
  const Output x = c.output(0);
  const Output grad_rhs = MatrixSolve(c.input(0), c.grad(), !adjoint);
  c.set(0, adjoint ? -BatchMatMul(x, grad_rhs, {.adj_y = true})
                   : -BatchMatMul(grad_rhs, x, {.adj_y = true}));
  c.set(1, grad_rhs);
}

}  // namespace

Output MatrixInverse(Output x, bool adjoint) {
  return OpBuilder("MatrixInverse").Input(x).Attr("adjoint", adjoint).Build();
}
Output MatrixDeterminant(Output x) { return OpBuilder("MatrixDeterminant").Input(x).Build(); }
std::pair<Output, Output> LogMatrixDeterminant(Output x) {
  const auto outputs = OpBuilder("LogMatrixDeterminant").Input(x).BuildAll();
  return {outputs[0], outputs[1]};
}
Output MatrixSolve(Output matrix, Output rhs, bool adjoint) {
  return OpBuilder("MatrixSolve").Input(matrix).Input(rhs).Attr("adjoint", adjoint).Build();
}
std::pair<Output, Output> Lu(Output x, DType index_type) {
  const auto outputs = OpBuilder("Lu").Input(x).Attr("output_idx_type", index_type).BuildAll();
  return {outputs[0], outputs[1]};
}

void RegisterMatrixSolve(OpRegistry& registry) {
  registry.Add(OpDef("MatrixInverse")
                   .Inputs("input:T")
                   .Outputs("output:T")
                   .Attrs("adjoint:bool=False; " + kType)
                   .Doc("The inverses of square matrices, or those of their adjoints.")
                   .Shape(SquareUnchanged)
                   .Gradient(InverseGradient));
  registry.Add(OpDef("MatrixDeterminant")
                   .Inputs("input:T")
                   .Outputs("output:T")
                   .Attrs(kHalfFirst)
                   .Doc("The determinants of square matrices.")
                   .Shape(DeterminantShape)
                   .Gradient(DeterminantGradient));
  registry.Add(OpDef("LogMatrixDeterminant")
                   .Inputs("input:T")
                   .Outputs("sign:T, log_abs_determinant:T")
                   .Attrs(kHalfFirst)
                   .Doc("Signs and logarithms of the absolute values of determinants.")
                   .Shape(DeterminantShape)
                   .Gradient(LogDeterminantGradient));
  registry.Add(OpDef("MatrixSolve")
                   .Inputs("matrix:T, rhs:T")
                   .Outputs("output:T")
                   .Attrs("adjoint:bool=False; " + kType)
                   .Doc("Solves systems of linear equations with square matrices.")
                   .Shape(SolveShape)
                   .Gradient(SolveGradient));
  registry.Add(OpDef("Lu")
                   .Inputs("input:T")
                   .Outputs("lu:T, p:output_idx_type")
                   .Attrs(kType + "; output_idx_type:type=int32 in [int32,int64]")
                   .Doc("Triangular factors of square matrices with permuted rows.")
                   .Shape(LuShape)
                   .NotDifferentiable("TensorFlow defines no gradient"));
}

}  // namespace sextant

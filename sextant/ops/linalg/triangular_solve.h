// Solving systems of linear equations with triangular matrices.
#pragma once

#include "sextant/graph/output.h"

namespace sextant {

struct TriangularSolveOptions {
  bool lower = true;     // which half of the matrix is read
  bool adjoint = false;  // solve with the adjoint
};
// x with matrix x = rhs, for each matrix; batches are broadcast.
Output MatrixTriangularSolve(Output matrix, Output rhs, const TriangularSolveOptions& options = {});

}  // namespace sextant

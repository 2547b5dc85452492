// MatrixTriangularSolve: systems of linear equations with triangular matrices.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API TriangularSolveOptions {
  bool lower = true;     // which half of the matrix is read
  bool adjoint = false;  // solve with the adjoint
};
// x with matrix x = rhs, for each matrix; batches are broadcast.
Output MatrixTriangularSolve(Output matrix, Output rhs, const TriangularSolveOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

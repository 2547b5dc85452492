// MatrixInverse, MatrixDeterminant, MatrixSolve, Lu: inverses, determinants and systems of linear
// equations.
#pragma once

#include <utility>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// x^-1 or, with "adjoint", x^-H, for each matrix. INVALID_ARGUMENT on matrices that have none.
Output MatrixInverse(Output x, bool adjoint = false);
Output MatrixDeterminant(Output x);
// (sign, log |det x|)
std::pair<Output, Output> LogMatrixDeterminant(Output x);
// x with matrix x = rhs or, with "adjoint", matrix^H x = rhs.
Output MatrixSolve(Output matrix, Output rhs, bool adjoint = false);
// (lu, p): row p[i] of x is row i of L U; "lu" holds both, without the ones on L's diagonal.
std::pair<Output, Output> Lu(Output x, DType index_type = DType::kInt32);

}  // namespace sextant

#pragma GCC visibility pop

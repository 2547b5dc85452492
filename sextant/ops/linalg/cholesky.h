// Cholesky, CholeskyGrad: decomposition of symmetric (Hermitian) positive definite matrices.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// The lower triangular L with L L^H = x, for each matrix. Only the lower half of x is read.
Output Cholesky(Output x);

}  // namespace sextant

#pragma GCC visibility pop

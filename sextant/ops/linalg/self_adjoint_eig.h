// SelfAdjointEigV2: eigenvalues and eigenvectors of symmetric (Hermitian) matrices.
#pragma once

#include <utility>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// (e, v): eigenvalues, ascending, and in the columns of v their eigenvectors, for each matrix. Only
// the lower half of x is read. Without "compute_v", v is empty.
std::pair<Output, Output> SelfAdjointEig(Output x, bool compute_v = true);

}  // namespace sextant

#pragma GCC visibility pop

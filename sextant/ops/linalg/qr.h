// Qr: QR decomposition.
#pragma once

#include <utility>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// (q, r) with q r = x for each matrix, q^H q = 1 and r upper triangular. q has as many columns as
// the shorter side of x or, with "full_matrices", is square.
std::pair<Output, Output> Qr(Output x, bool full_matrices = false);

}  // namespace sextant

#pragma GCC visibility pop

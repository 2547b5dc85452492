// Singular value decomposition.
#pragma once

#include "sextant/graph/output.h"

namespace sextant {

struct SvdOptions {
  bool compute_uv = true;  // else u and v are empty
  bool full_matrices = false;
};
struct SvdResult {
  Output s, u, v;
};
// u diag(s) v^H = x for each matrix; s is descending.
SvdResult Svd(Output x, const SvdOptions& options = {});

}  // namespace sextant

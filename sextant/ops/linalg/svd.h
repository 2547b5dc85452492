// Svd: singular value decomposition.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API SvdOptions {
  bool compute_uv = true;  // else u and v are empty
  bool full_matrices = false;
};
struct SEXTANT_API SvdResult {
  Output s, u, v;
};
// u diag(s) v^H = x for each matrix; s is descending.
SvdResult Svd(Output x, const SvdOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

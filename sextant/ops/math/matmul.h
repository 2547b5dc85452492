// MatMul, BatchMatMul: matrix products, of single matrices and of batches.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API MatMulOptions {
  bool transpose_a = false;
  bool transpose_b = false;
};
// a * b of two matrices, each transposed first if asked.
Output MatMul(Output a, Output b, const MatMulOptions& options = {});

struct SEXTANT_API BatchMatMulOptions {
  bool adj_x = false;  // transposed, and conjugated when complex
  bool adj_y = false;
};
// x[..., :, :] * y[..., :, :]; the dimensions before the last two are broadcast (op BatchMatMulV2).
Output BatchMatMul(Output x, Output y, const BatchMatMulOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

// BatchNormalization, L2Normalize, LayerNorm: normalizations composed of other ops.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API BatchNormalizationOptions {
  float variance_epsilon = 1e-3f;
};
// scale * (x - mean) / sqrt(variance + epsilon) + offset, with broadcasting. offset and scale may
// be left out (Output()).
Output BatchNormalization(Output x, Output mean, Output variance, Output offset, Output scale,
                          const BatchNormalizationOptions& options = {});

struct SEXTANT_API L2NormalizeOptions {
  double epsilon = 1e-12;
};
// x / sqrt(max(sum(x^2), epsilon)) along the axes.
Output L2Normalize(Output x, const IndexArg& axes, const L2NormalizeOptions& options = {});

struct SEXTANT_API LayerNormOptions {
  int64_t begin_axis = -1;  // statistics are taken over this axis and those behind it
  float epsilon = 1e-12f;
};
// gamma * (x - mean) / sqrt(variance + epsilon) + beta; gamma and beta have the shape of the
// normalized axes, or are left out (Output()). Throws INVALID_ARGUMENT when the rank of x is not
// known.
Output LayerNorm(Output x, Output gamma, Output beta, const LayerNormOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

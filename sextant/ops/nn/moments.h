// Moments: mean and variance along axes.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API MomentsOptions {
  bool keep_dims = false;  // the axes stay, with size 1
};
struct SEXTANT_API MomentsResult {
  Output mean;
  Output variance;  // mean squared deviation from the mean
};
// Computed in float where x is half or bfloat16. The mean counts as a constant where the variance
// is differentiated, which gives the same first derivative (not the second), as in TensorFlow.
MomentsResult Moments(Output x, const IndexArg& axes, const MomentsOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

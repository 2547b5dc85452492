// LRN: local response normalization across channels.
#pragma once

#include <cstdint>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API LrnOptions {
  int64_t depth_radius = 5;
  float bias = 1.0f;
  float alpha = 1.0f;
  float beta = 0.5f;
};
// x[..., c] / (bias + alpha * sum of x[..., k]^2 over |k - c| <= depth_radius)^beta
Output LRN(Output input, const LrnOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

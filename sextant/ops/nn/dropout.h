// Dropout: setting random elements to zero while training.
#pragma once

#include <cstdint>
#include <optional>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API DropoutOptions {
  double rate = 0.5;        // in [0, 1): the share of elements that become zero
  Output rate_tensor = {};  // a scalar, e.g. a placeholder, instead of rate
  std::optional<int64_t> seed = {};
  // The shape of the random choice, broadcast to that of x (e.g. [batch, 1, 1, channels] drops
  // whole channels). Default: the shape of x.
  Output noise_shape = {};
};
// Each element is zero with probability rate, else x / (1 - rate). With rate 0 it is x.
// Throws INVALID_ARGUMENT when x is not of a floating type or rate is outside [0, 1). The value of
// a rate_tensor is not checked, as in TensorFlow.
Output Dropout(Output x, const DropoutOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

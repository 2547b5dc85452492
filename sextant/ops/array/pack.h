// Pack, Unpack (Stack, Unstack): joining tensors along a new dimension and separating one along a
// dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Tensors of one shape stacked along a new dimension "axis" in [-rank - 1, rank].
Output Pack(const std::vector<Output>& values, int64_t axis = 0);
// The slices of x along "axis", whose size must be known.
std::vector<Output> Unpack(Output x, int64_t axis = 0);
std::vector<Output> Unpack(Output x, int64_t num, int64_t axis);

inline Output Stack(const std::vector<Output>& values, int64_t axis = 0) {
  return Pack(values, axis);
}
inline std::vector<Output> Unstack(Output x, int64_t axis = 0) { return Unpack(x, axis); }

}  // namespace sextant

#pragma GCC visibility pop

// How many numbers a Range has, the same for its shape function and its kernel.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "sextant/base/error.h"

namespace sextant {

// W is int64_t, float or double: what the op computes in. Throws INVALID_ARGUMENT when limit
// cannot be reached by steps of delta or the values are too many.
template <typename W>
int64_t CountSteps(W start, W limit, W delta) {
  if (delta == W(0)) throw InvalidArgument("Requires delta != 0: {}", delta);
  // Written so that a NaN is refused too.
  if (delta > W(0) && !(start <= limit)) {
    throw InvalidArgument("Requires start <= limit when delta > 0: {}/{}", start, limit);
  }
  if (!(delta > W(0)) && !(start >= limit)) {
    throw InvalidArgument("Requires start >= limit when delta < 0: {}/{}", start, limit);
  }
  if constexpr (std::is_integral_v<W>) {
    const uint64_t distance = delta > 0
                                  ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                  : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    const uint64_t step =
        delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
    const uint64_t count = distance / step + (distance % step != 0);
    if (count <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return static_cast<int64_t>(count);
    }
  } else {
    const double count = std::ceil(std::abs(static_cast<double>((limit - start) / delta)));
    if (count < 9.2e18) return static_cast<int64_t>(count);
  }
  throw InvalidArgument("Requires ((limit - start) / delta) <= {}: {}, {}, {}",
                        std::numeric_limits<int64_t>::max(), start, limit, delta);
}

}  // namespace sextant

// The limit on the memory of a shuffle buffer, whatever size is asked for.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/error.h"
#include "sextant/base/input_limits.h"

namespace sextant::data {

// Beyond the string itself.
inline uint64_t HeapBytes(const std::string& text) {
  constexpr size_t kInPlace = 15;
  return text.size() > kInPlace ? text.size() : 0;
}

// Throws RESOURCE_EXHAUSTED when `bytes`, which that number of elements takes, exceed the limit.
inline void CheckShuffleBytes(uint64_t elements, uint64_t bytes) {
  const uint64_t most = InputLimits::Current().shuffle;
  if (bytes <= most) return;
  throw ResourceExhausted(
      "{} elements in the buffer of a Shuffle take more than {} bytes; choose a smaller buffer",
      elements, most);
}

}  // namespace sextant::data

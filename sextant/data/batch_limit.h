// The limit on the memory of one batch, whatever size is asked for.
#pragma once

#include <cstdint>

#include "sextant/base/error.h"
#include "sextant/base/input_limits.h"

namespace sextant::data {

// Throws RESOURCE_EXHAUSTED when rows times bytes per row exceed the limit of a batch.
inline void CheckBatchBytes(int64_t rows, int64_t row_bytes) {
  const uint64_t most = InputLimits::Current().batch;
  int64_t bytes = 0;
  if (!__builtin_mul_overflow(rows, row_bytes, &bytes) && static_cast<uint64_t>(bytes) <= most) {
    return;
  }
  throw ResourceExhausted(
      "a batch of {} rows of {} bytes each is larger than {} bytes; choose a smaller batch", rows,
      row_bytes, most);
}

}  // namespace sextant::data

// The largest batch that memory allows.
#pragma once

#include <cstdint>
#include <functional>

namespace programs {

// Calls `step` with 1, 2, 4 … up to `most`, until it throws RESOURCE_EXHAUSTED, and prints what
// fits.
void FindBatchSize(int64_t most, const std::function<void(int64_t size)>& step);

}  // namespace programs

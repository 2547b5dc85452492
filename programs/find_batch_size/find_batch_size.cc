#include "find_batch_size/find_batch_size.h"

#include <fmt/core.h>

#include <cstdio>

#include "sextant/sextant.h"

namespace sx = sextant;

namespace programs {

void FindBatchSize(int64_t most, const std::function<void(int64_t size)>& step) {
  int64_t fits = 0;
  for (int64_t size = 1; size <= most; size *= 2) {
    try {
      step(size);
    } catch (const sx::Error& e) {
      if (e.code() != sx::Code::kResourceExhausted) throw;
      fmt::print("batch {}: RESOURCE_EXHAUSTED\n", size);
      break;
    }
    fmt::print("batch {}: fits\n", size);
    std::fflush(stdout);
    fits = size;
  }
  fmt::print("largest batch {}\n", fits);
}

}  // namespace programs

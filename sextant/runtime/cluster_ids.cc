#include "sextant/runtime/cluster_ids.h"

#include <atomic>
#include <random>

namespace sextant {

uint64_t NewClusterId() {
  static std::atomic<uint64_t> next = [] {
    std::random_device random;
    return uint64_t{random()} << 32 | random();
  }();
  const uint64_t id = next.fetch_add(1, std::memory_order_relaxed);
  return id != 0 ? id : NewClusterId();
}

}  // namespace sextant

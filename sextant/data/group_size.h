// GroupSize: how many elements a thread takes under one lock. It is doubled or halved so that the
// work on a group takes about 50 us, which makes the cost of the lock small.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sextant::data {

// Not synchronised. Affects speed only.
class GroupSize {
 public:
  using Clock = std::chrono::steady_clock;

  explicit GroupSize(int64_t max) : max_(max) {}

  int64_t get() const { return size_; }
  // Reports that the work on a group of `count` took this time.
  void Learn(int64_t count, Clock::duration time) {
    constexpr auto kTarget = std::chrono::microseconds(50);
    if (count < size_) return;  // the last group of the data may be small
    if (2 * time < kTarget) {
      size_ = std::min(max_, 2 * size_);
    } else if (time > 2 * kTarget) {
      size_ = std::max<int64_t>(1, size_ / 2);
    }
  }

 private:
  const int64_t max_;
  int64_t size_ = 1;
};

}  // namespace sextant::data

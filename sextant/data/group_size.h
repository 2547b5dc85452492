// GroupSize: how many elements a thread takes at once, so that taking them costs little beside the
// work on them: as many as are worked on in about 50 us, from 1 up.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sextant::data {

// Not synchronised. Changes results in nothing but their speed.
class GroupSize {
 public:
  using Clock = std::chrono::steady_clock;

  explicit GroupSize(int64_t max) : max_(max) {}

  int64_t get() const { return size_; }
  // That a group of `count` took this time.
  void Learn(int64_t count, Clock::duration time) {
    constexpr auto kTarget = std::chrono::microseconds(50);
    if (count < size_) return;  // an odd lot says little
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

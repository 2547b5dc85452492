// BatchClock: what time it is for a batcher, and how its threads wait for a time. Tests have one of
// their own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace sextant::serving {

using Clock = std::chrono::steady_clock;

class BatchClock {
 public:
  virtual ~BatchClock() = default;
  virtual Clock::time_point Now() const { return Clock::now(); }
  // As wake.wait_until(lock, until); may end earlier.
  virtual void WaitUntil(std::condition_variable& wake, std::unique_lock<std::mutex>& lock,
                         Clock::time_point until) {
    wake.wait_until(lock, until);
  }
};

}  // namespace sextant::serving

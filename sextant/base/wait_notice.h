// WaitNotice: says in the log for whom and why a process waits: when it has waited for a few
// seconds, then every 30.
//
//   WaitNotice notice;
//   while (!Ready()) {
//     SleepUntil(...);
//     notice.Say([&] { return fmt::format("waiting for {}", name); });
//   }
#pragma once

#include <chrono>

#include "sextant/base/logging.h"

namespace sextant {

class WaitNotice {
 public:
  // The text is made when it is due.
  template <typename TextFn>
  void Say(TextFn&& text) {
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + std::chrono::seconds(30);
    LogInfo("{}", text());
  }
  // What is waited for has come: the next wait is another one.
  void Reset() { next_ = Clock::now() + kFirst; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kFirst{3};
  Clock::time_point next_ = Clock::now() + kFirst;
};

}  // namespace sextant

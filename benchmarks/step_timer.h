// StepTimer: the steps of a training, timed as the peers' scripts time theirs.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "sextant/train/hook.h"

namespace sextant::bench {

// Times groups of steps; stops when enough groups were seen.
class StepTimer : public train::Hook {
 public:
  using Clock = std::chrono::steady_clock;
  static double SecondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  StepTimer(int64_t warmup, int64_t steps, int repeats)
      : warmup_(warmup), steps_(steps), repeats_(repeats) {}
  void AfterRun(train::RunContext& run) override {
    if (++count_ < warmup_ || (count_ - warmup_) % steps_ != 0) return;
    if (start_) spans_.push_back(SecondsSince(*start_));
    start_ = Clock::now();
    if (static_cast<int>(spans_.size()) >= repeats_) run.RequestStop();
  }
  const std::vector<double>& spans() const { return spans_; }

 private:
  const int64_t warmup_, steps_;
  const int repeats_;
  int64_t count_ = 0;
  std::optional<Clock::time_point> start_;
  std::vector<double> spans_;
};

}  // namespace sextant::bench

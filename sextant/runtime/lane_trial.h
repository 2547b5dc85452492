// LaneTrial: finds out in the first runs of a frame whether its Plan is faster in lanes than step
// by step with every step shared among the team.
//
// Results are the same either way. The trial times a few runs whole, then a few step by step on one
// thread, deals the steps by these times, times a few runs in lanes and keeps what is faster. Used
// by one run at a time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sextant/runtime/lanes.h"

namespace sextant {

class LaneTrial {
 public:
  enum class Way : uint8_t {
    kPlain,  // step by step
    kSteps,  // alone on one thread, every step timed: tell RecordStep
    kLanes,  // in lanes()
  };

  // "always": in lanes from the first run on.
  LaneTrial(const Plan& plan, bool always) : plan_(plan), always_(always) {}

  // How the next run of so many threads is to go.
  Way Next(int threads);
  // Whether the time of that run is to be told to RecordRun.
  bool times_run() const { return timed_ != nullptr; }
  void RecordRun(double nanoseconds) { *timed_ = std::min(*timed_, nanoseconds); }
  void RecordStep(size_t step, double nanoseconds) {
    if (nanoseconds < cost_[step]) cost_[step] = nanoseconds;
  }
  const Lanes& lanes() const { return *lanes_; }

 private:
  void Begin(int threads);
  void Deal(int threads);

  const Plan& plan_;
  const bool always_;
  bool decided_ = false;
  int runs_ = 0;
  int threads_ = 0;
  double plain_ = 0, laned_ = 0;  // the shortest runs
  double* timed_ = nullptr;       // the one of them that the run at hand is for
  std::vector<double> cost_;      // per step, the shortest
  std::unique_ptr<const Lanes> lanes_;
};

}  // namespace sextant

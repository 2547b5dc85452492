// ScheduleTrial: finds out in the first runs of a frame whether its Plan is faster by a schedule
// than step by step with every step shared among the team.
//
// Results are the same either way. The trial times a few runs whole, then a few step by step on one
// thread, schedules the steps by these times, times a few such runs and keeps what is faster. Used
// by one run at a time. Frames of one Plan share what was found: a frame made later, because runs
// overlap, makes no trial of its own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sextant/runtime/list_scheduler.h"

namespace sextant {

class ScheduleTrial {
 public:
  enum class Way : uint8_t {
    kPlain,      // step by step
    kSteps,      // alone on one thread, every step timed: tell RecordStep
    kScheduled,  // by schedule()
  };

  // "always": by a schedule from the first run on.
  ScheduleTrial(const Plan& plan, bool always) : plan_(plan), always_(always) {}

  // How the next run with this number of threads is to go.
  Way Next(int threads);
  // Whether the time of that run is to be told to RecordRun.
  bool times_run() const { return timed_ != nullptr; }
  void RecordRun(double nanoseconds) { *timed_ = std::min(*timed_, nanoseconds); }
  void RecordStep(size_t step, double nanoseconds) {
    if (nanoseconds < cost_[step]) cost_[step] = nanoseconds;
  }
  const Schedule& schedule() const { return *finding_.schedule; }

  struct Finding {
    int threads = 0;
    std::shared_ptr<const Schedule> schedule;  // null: step by step
  };
  // Null while the trial goes on.
  const Finding* finding() const { return decided_ && !always_ ? &finding_ : nullptr; }
  // Takes over what another trial of the same Plan found, unless this one has ended too or is for
  // another number of threads.
  void Adopt(const Finding& finding);

 private:
  void Begin(int threads);
  void MakeSchedule(int threads);

  const Plan& plan_;
  const bool always_;
  bool decided_ = false;
  int runs_ = 0;
  double plain_ = 0, scheduled_ = 0;  // the shortest runs
  double* timed_ = nullptr;           // the one of them that the run at hand is for
  std::vector<double> cost_;          // per step, the shortest
  Finding finding_;                   // what is used, decided or not
};

}  // namespace sextant

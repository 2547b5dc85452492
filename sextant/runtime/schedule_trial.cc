#include "sextant/runtime/schedule_trial.h"

#include <limits>

namespace sextant {
namespace {

constexpr double kUntimed = std::numeric_limits<double>::max();
// The runs of the trial: warm-up first, then this number of each kind.
constexpr int kWarmUp = 4, kRuns = 8;
// A schedule is kept when it takes at most this share of the time: threads that wait for each other
// suffer more from other processes.
constexpr double kFoundShare = 0.95;

}  // namespace

ScheduleTrial::Way ScheduleTrial::Next(int threads) {
  if (threads < 2) return Way::kPlain;
  if (threads != finding_.threads) Begin(threads);
  timed_ = nullptr;
  if (!decided_) {
    const int run = runs_++;
    if (run < kWarmUp) return Way::kPlain;
    if (run < kWarmUp + kRuns) {
      timed_ = &plain_;
      return Way::kPlain;
    }
    if (run < kWarmUp + 2 * kRuns) return Way::kSteps;
    if (run == kWarmUp + 2 * kRuns) MakeSchedule(threads);
    if (run < kWarmUp + 3 * kRuns) {
      timed_ = &scheduled_;
      return Way::kScheduled;
    }
    if (scheduled_ > kFoundShare * plain_) finding_.schedule.reset();
    decided_ = true;
  }
  return finding_.schedule ? Way::kScheduled : Way::kPlain;
}

void ScheduleTrial::Adopt(const Finding& finding) {
  const bool same = finding_.threads == 0 || finding_.threads == finding.threads;
  if (decided_ || always_ || !same) return;
  finding_ = finding;
  timed_ = nullptr;
  decided_ = true;
}

void ScheduleTrial::Begin(int threads) {
  finding_.threads = threads;
  runs_ = 0;
  plain_ = scheduled_ = kUntimed;
  finding_.schedule.reset();
  cost_.assign(plan_.steps.size(), always_ ? 1000 : kUntimed);
  if (always_) MakeSchedule(threads);
  decided_ = always_;
}

void ScheduleTrial::MakeSchedule(int threads) {
  // Steps that are passed over, once their value is there, cost nothing.
  for (double& cost : cost_) cost = cost == kUntimed ? 0 : cost;
  finding_.schedule = std::make_shared<const Schedule>(
      ScheduleSteps(plan_, std::min(threads, Schedule::kMaxWorkers), cost_));
}

}  // namespace sextant

#include "sextant/runtime/lane_trial.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace sextant {
namespace {

constexpr int kWarmUp = 4, kWholeRuns = 8, kStepRuns = 8;
constexpr double kNever = std::numeric_limits<double>::max();
// The gain must be worth the threads' attention to each other.
constexpr double kLargestShare = 0.85;

}  // namespace

LaneTrial::Way LaneTrial::Next(int threads) {
  if (threads < 2) return Way::kPlain;
  if (threads != threads_) {
    threads_ = threads;
    runs_ = 0;
    decided_ = false;
    lanes_.reset();
    whole_ = kNever;
    cost_.assign(plan_.steps.size(), always_ ? 1000 : kNever);
  }
  if (!decided_) {
    const int run = always_ ? kWarmUp + kWholeRuns + kStepRuns : runs_++;
    if (run < kWarmUp) return Way::kPlain;
    if (run < kWarmUp + kWholeRuns) return Way::kWhole;
    if (run < kWarmUp + kWholeRuns + kStepRuns) return Way::kSteps;
    Deal(threads);
  }
  return lanes_ ? Way::kLanes : Way::kPlain;
}

void LaneTrial::RecordWhole(double nanoseconds) { whole_ = std::min(whole_, nanoseconds); }

void LaneTrial::Deal(int threads) {
  // Steps that are passed over, once their value is there, cost nothing.
  for (double& cost : cost_) cost = cost == kNever ? 0 : cost;
  auto lanes =
      std::make_unique<const Lanes>(DealSteps(plan_, std::min(threads, Lanes::kMost), cost_));
  double total = 0;
  for (double c : cost_) total += c;
  if (getenv("SIM"))
    fprintf(stderr, "DEAL whole %.1f alone %.1f lanes %.1f\n", whole_ / 1e3, total / 1e3,
            lanes->nanoseconds / 1e3);
  if (always_ || lanes->nanoseconds < kLargestShare * whole_) lanes_ = std::move(lanes);
  decided_ = true;
}

}  // namespace sextant

#include "sextant/runtime/lane_trial.h"

#include <limits>

namespace sextant {
namespace {

constexpr double kNever = std::numeric_limits<double>::max();
// The runs of the trial: first to warm up, then so many of each kind.
constexpr int kWarmUp = 4, kRuns = 8;
// Lanes are kept when they take at most this share of the time: threads that wait for each other
// suffer more from other processes.
constexpr double kFoundShare = 0.95;

}  // namespace

LaneTrial::Way LaneTrial::Next(int threads) {
  if (threads < 2) return Way::kPlain;
  if (threads != threads_) Begin(threads);
  timed_ = nullptr;
  if (!decided_) {
    const int run = runs_++;
    if (run < kWarmUp) return Way::kPlain;
    if (run < kWarmUp + kRuns) {
      timed_ = &plain_;
      return Way::kPlain;
    }
    if (run < kWarmUp + 2 * kRuns) return Way::kSteps;
    if (run == kWarmUp + 2 * kRuns) Deal(threads);
    if (run < kWarmUp + 3 * kRuns) {
      timed_ = &laned_;
      return Way::kLanes;
    }
    if (laned_ > kFoundShare * plain_) lanes_.reset();
    decided_ = true;
  }
  return lanes_ ? Way::kLanes : Way::kPlain;
}

void LaneTrial::Begin(int threads) {
  threads_ = threads;
  runs_ = 0;
  plain_ = laned_ = kNever;
  lanes_.reset();
  cost_.assign(plan_.steps.size(), always_ ? 1000 : kNever);
  if (always_) Deal(threads);
  decided_ = always_;
}

void LaneTrial::Deal(int threads) {
  // Steps that are passed over, once their value is there, cost nothing.
  for (double& cost : cost_) cost = cost == kNever ? 0 : cost;
  lanes_ = std::make_unique<const Lanes>(DealSteps(plan_, std::min(threads, Lanes::kMost), cost_));
}

}  // namespace sextant

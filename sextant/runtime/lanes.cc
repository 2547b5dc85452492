#include "sextant/runtime/lanes.h"

#include <algorithm>
#include <numeric>

#include "sextant/runtime/step_dependencies.h"

namespace sextant {
namespace {

// What it costs until another processor sees that a step has ended, in nanoseconds.
constexpr double kHandOver = 200;
constexpr double kStepOverhead = 30;

class Dealer {
 public:
  Dealer(const Plan& plan, int lanes, std::span<const double> cost)
      : plan_(plan),
        cost_(cost),
        before_(StepDependencies(plan)),
        end_(plan.steps.size()),
        lane_(plan.steps.size()),
        place_(plan.steps.size()),
        free_at_(lanes) {
    result_.lanes.resize(lanes);
  }

  Lanes Deal() {
    for (const int32_t step : ByWayToEnd()) Place(step, BestLane(step));
    for (auto& lane : result_.lanes) FindWaits(lane);
    ShareOutReleases();
    return std::move(result_);
  }

 private:
  // All steps; each comes after those it depends on.
  std::vector<int32_t> ByWayToEnd() const {
    std::vector<double> way(plan_.steps.size(), 0);
    for (size_t i = way.size(); i-- > 0;) {
      way[i] += cost_[i] + kStepOverhead;
      for (const int32_t other : before_[i]) way[other] = std::max(way[other], way[i]);
    }
    std::vector<int32_t> order(way.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return way[a] > way[b]; });
    return order;
  }

  double Begin(int32_t step, int lane) const {
    double begin = free_at_[lane];
    for (const int32_t other : before_[step]) {
      begin = std::max(begin, end_[other] + (lane_[other] == lane ? 0 : kHandOver));
    }
    return begin;
  }

  int BestLane(int32_t step) const {
    int best = 0;
    for (int lane = 1; lane < static_cast<int>(free_at_.size()); ++lane) {
      if (Begin(step, lane) < Begin(step, best)) best = lane;
    }
    return best;
  }

  void Place(int32_t step, int lane) {
    end_[step] = free_at_[lane] = Begin(step, lane) + cost_[step] + kStepOverhead;
    lane_[step] = lane;
    auto& steps = result_.lanes[lane];
    steps.push_back({.step = step});
    place_[step] = static_cast<int32_t>(steps.size());
  }

  // What the lane has waited for need not be waited for again.
  void FindWaits(std::vector<Lanes::LaneStep>& lane) const {
    std::vector<int32_t> seen(result_.lanes.size(), 0);
    seen[&lane - result_.lanes.data()] = static_cast<int32_t>(lane.size());
    for (Lanes::LaneStep& step : lane) {
      std::vector<int32_t> needed = seen;
      for (const int32_t other : before_[step.step]) {
        needed[lane_[other]] = std::max(needed[lane_[other]], place_[other]);
      }
      for (size_t l = 0; l < seen.size(); ++l) {
        if (needed[l] > seen[l]) step.after.push_back({static_cast<int32_t>(l), needed[l]});
      }
      seen = std::move(needed);
    }
  }

  Lanes::LaneStep& At(int32_t step) { return result_.lanes[lane_[step]][place_[step] - 1]; }

  void ShareOutReleases() {
    std::vector<std::vector<int32_t>> readers(plan_.num_slots);
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const auto index = static_cast<int32_t>(i);
      for (const int32_t slot : plan_.steps[i].io.inputs) {
        if (readers[slot].empty() || readers[slot].back() != index) readers[slot].push_back(index);
      }
    }
    // What the Plan releases after a step, it may release after the last reader in any order.
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      for (const int32_t slot : plan_.steps[i].release) {
        if (readers[slot].size() < 2) {
          At(static_cast<int32_t>(i)).release.push_back(slot);
          continue;
        }
        result_.shared.push_back({slot, static_cast<int32_t>(readers[slot].size())});
        for (const int32_t reader : readers[slot]) At(reader).shared.push_back(slot);
      }
    }
  }

  const Plan& plan_;
  const std::span<const double> cost_;
  const std::vector<std::vector<int32_t>> before_;
  std::vector<double> end_;      // per step
  std::vector<int> lane_;        // per step
  std::vector<int32_t> place_;   // per step: in its lane, from 1
  std::vector<double> free_at_;  // per lane
  Lanes result_;
};

}  // namespace

Lanes DealSteps(const Plan& plan, int lanes, std::span<const double> cost) {
  return Dealer(plan, lanes, cost).Deal();
}

}  // namespace sextant

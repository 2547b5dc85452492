// List scheduling with the critical path as priority. A step's rank is the cost of the longest
// chain of dependent steps that begins with it. Steps are placed in the order of their ranks, so
// each after those it depends on, at the worker where it can begin earliest: when the worker is
// free and the results it needs have arrived, which takes kHandOver longer from another worker.
//
//   a (5) → c (1)      ranks: b 9, a 6, d 6, c 1
//   b (3) → d (6)      worker 0: b d       begins 0, 3
//                      worker 1: a c       begins 0, 5
//
// Invariant: a worker's list keeps the order of ranks, so waiting for the next step of each list in
// turn cannot deadlock: the unfinished step of the highest rank can always run.
//
// Graham, Bounds on multiprocessing timing anomalies, 1969; Topcuoglu et al. (HEFT), 2002.
#include "sextant/runtime/list_scheduler.h"

#include <algorithm>
#include <numeric>

#include "sextant/runtime/step_dependencies.h"

namespace sextant {
namespace {

// What it costs until another processor sees that a step has ended, in nanoseconds.
constexpr double kHandOver = 200;
constexpr double kStepOverhead = 30;

class ListScheduler {
 public:
  ListScheduler(const Plan& plan, int workers, std::span<const double> cost)
      : plan_(plan),
        cost_(cost),
        before_(StepDependencies(plan)),
        end_(plan.steps.size()),
        worker_(plan.steps.size()),
        place_(plan.steps.size()),
        free_at_(workers) {
    result_.workers.resize(workers);
  }

  Schedule Run() {
    for (const int32_t step : ByRank()) Place(step, BestWorker(step));
    for (auto& worker : result_.workers) FindWaits(worker);
    ShareOutReleases();
    return std::move(result_);
  }

 private:
  // All steps; each comes after those it depends on.
  std::vector<int32_t> ByRank() const {
    std::vector<double> rank(plan_.steps.size(), 0);
    for (size_t i = rank.size(); i-- > 0;) {
      rank[i] += cost_[i] + kStepOverhead;
      for (const int32_t other : before_[i]) rank[other] = std::max(rank[other], rank[i]);
    }
    std::vector<int32_t> order(rank.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](int32_t a, int32_t b) { return rank[a] > rank[b]; });
    return order;
  }

  double Begin(int32_t step, int worker) const {
    double begin = free_at_[worker];
    for (const int32_t other : before_[step]) {
      begin = std::max(begin, end_[other] + (worker_[other] == worker ? 0 : kHandOver));
    }
    return begin;
  }

  int BestWorker(int32_t step) const {
    int best = 0;
    for (int worker = 1; worker < static_cast<int>(free_at_.size()); ++worker) {
      if (Begin(step, worker) < Begin(step, best)) best = worker;
    }
    return best;
  }

  void Place(int32_t step, int worker) {
    end_[step] = free_at_[worker] = Begin(step, worker) + cost_[step] + kStepOverhead;
    worker_[step] = worker;
    auto& steps = result_.workers[worker];
    steps.push_back({.step = step});
    place_[step] = static_cast<int32_t>(steps.size());
  }

  // What the worker has waited for need not be waited for again.
  void FindWaits(std::vector<Schedule::WorkerStep>& worker) const {
    std::vector<int32_t> seen(result_.workers.size(), 0);
    seen[&worker - result_.workers.data()] = static_cast<int32_t>(worker.size());
    for (Schedule::WorkerStep& step : worker) {
      std::vector<int32_t> needed = seen;
      for (const int32_t other : before_[step.step]) {
        needed[worker_[other]] = std::max(needed[worker_[other]], place_[other]);
      }
      for (size_t l = 0; l < seen.size(); ++l) {
        if (needed[l] > seen[l]) step.after.push_back({static_cast<int32_t>(l), needed[l]});
      }
      seen = std::move(needed);
    }
  }

  Schedule::WorkerStep& At(int32_t step) {
    return result_.workers[worker_[step]][place_[step] - 1];
  }

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
  std::vector<int> worker_;      // per step
  std::vector<int32_t> place_;   // per step: in its worker, from 1
  std::vector<double> free_at_;  // per worker
  Schedule result_;
};

}  // namespace

Schedule ScheduleSteps(const Plan& plan, int workers, std::span<const double> cost) {
  return ListScheduler(plan, workers, cost).Run();
}

}  // namespace sextant

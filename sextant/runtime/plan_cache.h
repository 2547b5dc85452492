// PlanCache: the Plans of a session by signature, the least recently used dropped when they take
// too much memory. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "sextant/runtime/plan.h"
#include "sextant/runtime/schedule_trial.h"

namespace sextant {

// A Plan and its idle frames.
class PreparedPlan {
 public:
  explicit PreparedPlan(std::shared_ptr<const Plan> plan) : plan_(std::move(plan)) {}
  const Plan& plan() const { return *plan_; }
  // An idle frame, or a new one.
  std::unique_ptr<Frame> Take(Allocator& allocator);
  void Give(std::unique_ptr<Frame> frame);

 private:
  const std::shared_ptr<const Plan> plan_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Frame>> idle_;
  std::optional<ScheduleTrial::Finding> finding_;  // of a frame whose trial ended
};

// What runs a signature: one Plan; or, where the shapes of its data are known only when they have
// come (data_sources.h), the Plan of its data sources and then one of the rest for these shapes.
class PreparedRun {
 public:
  explicit PreparedRun(std::shared_ptr<PreparedPlan> plan, std::vector<Output> source_outputs = {})
      : plan_(std::move(plan)), source_outputs_(std::move(source_outputs)) {}

  // Of the whole run, or of its data sources.
  PreparedPlan& plan() const { return *plan_; }
  // What the data sources give; empty when there are none.
  const std::vector<Output>& source_outputs() const { return source_outputs_; }

  // The Plan that the last run had for the rest, if data of the same types and shapes came and the
  // same predicates (fed_predicates.h); else null. REQUIRES: the data is in the order of
  // source_outputs.
  std::shared_ptr<PreparedPlan> LastRest(std::span<const Tensor> data, uint64_t predicates);
  void KeepRest(std::span<const Tensor> data, uint64_t predicates,
                std::shared_ptr<PreparedPlan> rest);

 private:
  const std::shared_ptr<PreparedPlan> plan_;
  const std::vector<Output> source_outputs_;
  std::mutex mutex_;
  std::vector<DType> rest_types_;
  std::vector<Shape> rest_shapes_;
  uint64_t rest_predicates_ = 0;
  std::shared_ptr<PreparedPlan> rest_;
};

class PlanCache {
 public:
  // What identifies a Plan, as numbers: feeds with dtypes, shapes and values of predicates,
  // fetches, targets.
  using Key = std::vector<uint64_t>;

  explicit PlanCache(int64_t max_bytes) : max_bytes_(max_bytes) {}
  std::shared_ptr<PreparedRun> Find(const Key& key);
  // Keeps the run, and returns the one to use: another thread may have been faster.
  std::shared_ptr<PreparedRun> Add(const Key& key, std::shared_ptr<PreparedRun> run);
  int size() const;

 private:
  struct Entry {
    Key key;
    std::shared_ptr<PreparedRun> run;
    int64_t bytes;
  };
  struct KeyHash {
    size_t operator()(const Key* key) const;
  };
  struct KeyEqual {
    bool operator()(const Key* a, const Key* b) const { return *a == *b; }
  };

  const int64_t max_bytes_;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<const Key*, std::list<Entry>::iterator, KeyHash, KeyEqual> by_key_;
  int64_t bytes_ = 0;
};

}  // namespace sextant

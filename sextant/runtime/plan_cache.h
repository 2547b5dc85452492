// PlanCache: the Plans of a session by signature, the least recently used dropped when they take
// too much memory. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "sextant/runtime/plan.h"

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
};

class PlanCache {
 public:
  // What identifies a Plan, as numbers: feeds with dtypes, shapes and values of predicates,
  // fetches, targets.
  using Key = std::vector<uint64_t>;

  explicit PlanCache(int64_t max_bytes) : max_bytes_(max_bytes) {}
  std::shared_ptr<PreparedPlan> Find(const Key& key);
  // Keeps the plan, and returns the one to use: another thread may have been faster.
  std::shared_ptr<PreparedPlan> Add(const Key& key, std::shared_ptr<const Plan> plan);
  int size() const;

 private:
  struct Entry {
    Key key;
    std::shared_ptr<PreparedPlan> plan;
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

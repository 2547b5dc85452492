// CallerHoldings: what a task keeps for each caller beside its calls: Runs with tensors for later
// fragments, and sessions with state of their own. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>

namespace sextant::dist {

class CallerHoldings {
 public:
  struct Held {
    std::set<uint64_t> runs, sessions;
  };

  void AddRun(uint64_t sender, uint64_t run) {
    const std::lock_guard lock(mutex_);
    held_[sender].runs.insert(run);
  }
  void AddSession(uint64_t sender, uint64_t session) {
    const std::lock_guard lock(mutex_);
    held_[sender].sessions.insert(session);
  }
  void RemoveRun(uint64_t sender, uint64_t run) {
    const std::lock_guard lock(mutex_);
    if (const auto found = held_.find(sender); found != held_.end()) found->second.runs.erase(run);
  }
  void RemoveSession(uint64_t sender, uint64_t session) {
    const std::lock_guard lock(mutex_);
    if (const auto found = held_.find(sender); found != held_.end())
      found->second.sessions.erase(session);
  }
  // All of a caller that is gone.
  Held Take(uint64_t sender) {
    const std::lock_guard lock(mutex_);
    auto node = held_.extract(sender);
    return node ? std::move(node.mapped()) : Held();
  }

 private:
  std::mutex mutex_;
  std::map<uint64_t, Held> held_;  // by sender
};

}  // namespace sextant::dist

// WorkerClocks: bounded staleness (stale synchronous parallel): no worker of asynchronous training
// is more than a given number of steps ahead of the slowest (StaleUpdates::kBlock). The clock of a
// worker is the number of steps it has begun. One that joins has the clock of the slowest; one that
// is gone does not count.
//
//   clocks.Note(0, process, 7); clocks.Note(1, other, 4);   // ranks, clocks
//   clocks.Lead(0);
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

namespace sextant::dist {

class WorkerClocks {
 public:
  // The process of a rank, by its incarnation, is about to begin this step of its own.
  void Note(int rank, uint64_t incarnation, int64_t clock) {
    auto [found, is_new] = clocks_.try_emplace(rank);
    Clock& own = found->second;
    if (is_new || own.incarnation != incarnation) {
      own = {incarnation, 0, INT64_MAX};
      for (const auto& [other, state] : clocks_) own.now = std::min(own.now, state.now);
      own.offset = own.now == INT64_MAX ? 0 : own.now - clock;
    }
    own.now = clock + own.offset;
  }
  void Forget(int rank) { clocks_.erase(rank); }
  void Clear() { clocks_.clear(); }

  // Steps that the rank is ahead of the slowest.
  int64_t Lead(int rank) const {
    const auto own = clocks_.find(rank);
    if (own == clocks_.end()) return 0;
    int64_t slowest = own->second.now;
    for (const auto& [other, state] : clocks_) slowest = std::min(slowest, state.now);
    return own->second.now - slowest;
  }

 private:
  struct Clock {
    uint64_t incarnation = 0;
    int64_t offset = 0, now = 0;
  };
  std::map<int, Clock> clocks_;
};

}  // namespace sextant::dist

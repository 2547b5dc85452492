// Staleness of asynchronous updates: how many other updates a server has run between the reads of a
// step and its update.
//
//   Staleness staleness;
//   staleness.Called(run_a, /*updates=*/false);   // reads
//   staleness.Called(run_b, /*updates=*/false);
//   staleness.Called(run_b, /*updates=*/true);    // 0
//   staleness.Called(run_a, /*updates=*/true);    // 1: b's came in between
//
// With a limit, updates that are staler than it are left out, or their gradients count less.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>

#include "sextant/runtime/cluster.h"

namespace sextant::dist {

// Thread-safe.
class Staleness {
 public:
  explicit Staleness(const StalenessLimit& limit = {}) : limit_(limit) {}

  // A call of a run; `updates`: one that changes variables. The first of them behind reads counts.
  // What its gradients are to be multiplied by: 1, or, beyond the limit, 0 to leave it out or
  // 1 / (1 + staleness).
  double Called(uint64_t run, bool updates);

  int64_t updates() const;  // that were made
  int64_t dropped() const;
  double Mean() const;
  // At least 99 of 100 updates are no staler. Beyond 255 it is 255.
  int64_t P99() const;

 private:
  static constexpr size_t kMostRuns = 4096;  // that have read and not updated; the oldest go

  const StalenessLimit limit_;
  mutable std::mutex mutex_;
  int64_t dropped_ = 0;
  int64_t version_ = 0;                      // updates so far
  std::map<uint64_t, int64_t> read_at_;      // run → version of its first call
  std::map<int64_t, uint64_t> runs_by_age_;  // number of the call → run
  std::array<int64_t, 256> counts_ = {};     // by staleness
  int64_t sum_ = 0, calls_ = 0;
};

}  // namespace sextant::dist

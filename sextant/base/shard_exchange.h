// ShardExchange: work sharing among the threads of one job. A parallel loop that one worker runs is
// on offer while it lasts; workers that have nothing to do take shards of it. What a shard does
// must not depend on the thread it runs on. Nothing is allocated.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "sextant/base/function_ref.h"

namespace sextant {

class ShardExchange {
 public:
  static constexpr int kMaxWorkers = 4;
  static constexpr int kMaxShards = 1 << 15;

  // Calls fn(shard) for 0 <= shard < num_shards, here and in threads that help, and returns when
  // all are done. When shards throw, rethrows the exception of the lowest; which others ran is then
  // unspecified. REQUIRES: no other loop of this worker is running; 0 <= worker < kMaxWorkers; 0 <
  // num_shards <= kMaxShards.
  void Run(int worker, int num_shards, FunctionRef<void(int shard)> fn);

  // Runs a shard of a loop that is on offer. False when there is none.
  bool Help();

 private:
  struct alignas(64) Offer {
    // Which loop of the worker it is, its next shard that nobody has taken, and its shards: what a
    // thread has taken of it, it has taken of the loop that is there now.
    std::atomic<uint64_t> state{0};
    const FunctionRef<void(int)>* fn = nullptr;
    std::atomic<int> unfinished{0};
    std::mutex error_mutex;
    std::exception_ptr error;
    int error_shard = 0;
  };

  // Takes a shard and runs it. False when all are taken.
  static bool RunOne(Offer& offer);

  std::array<Offer, kMaxWorkers> offers_;
};

}  // namespace sextant

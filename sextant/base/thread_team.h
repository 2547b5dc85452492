// ThreadTeam: a fixed set of threads that share the work of one job at a time.
//
// A job is cut into shards whose bounds depend only on (total, grain, number of threads), never on
// scheduling, so that sums made per shard and added in shard order give the same bits every time.
// The calling thread works too. Any thread may call at any time: a call from inside a job, or while
// the team works for someone else, runs the same shards one after another on the calling thread.
// A dispatch allocates nothing.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/base/function_ref.h"

namespace sextant {

class ShardExchange;

class ThreadTeam {
 public:
  // The team of the process: as many threads as the hardware has, or as SEXTANT_THREADS says.
  static ThreadTeam& Process();

  // A team of `threads` threads, the caller's included; less than 1 counts as 1.
  // Throws RESOURCE_EXHAUSTED when the system does not start them.
  explicit ThreadTeam(int threads);
  // REQUIRES: no call is running.
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  int size() const { return size_; }

  // While it lives, jobs started by this thread, and jobs nested in them, use at most `max_threads`
  // threads. Limits nest; the smallest counts.
  class SEXTANT_API Limit {
   public:
    explicit Limit(int max_threads);
    ~Limit();
    Limit(const Limit&) = delete;
    Limit& operator=(const Limit&) = delete;

   private:
    int previous_;
  };

  // While it lives, jobs started by this thread run on it alone, cut into the same shards.
  class SEXTANT_API Alone {
   public:
    Alone();
    ~Alone();
    Alone(const Alone&) = delete;
    Alone& operator=(const Alone&) = delete;

   private:
    bool previous_;
  };

  // While it lives, jobs started by this thread are cut into the same shards and offered to the
  // threads that share the exchange.
  class Sharing {
   public:
    Sharing(ShardExchange& exchange, int worker);
    ~Sharing();
    Sharing(const Sharing&) = delete;
    Sharing& operator=(const Sharing&) = delete;
  };

  // The number of shards that a loop of `total` iterations is cut into: one thread per `grain`
  // iterations begun, at most size() or the Limit; 0 when total is not positive.
  int NumShards(int64_t total, int64_t grain) const;

  // Calls fn(begin, end) for every shard of [0, total) and returns when all are done. When shards
  // throw, rethrows the exception of the lowest; which other shards ran is then unspecified.
  void ParallelFor(int64_t total, int64_t grain, FunctionRef<void(int64_t begin, int64_t end)> fn) {
    ParallelShards(total, grain, [&](int, int64_t begin, int64_t end) { fn(begin, end); });
  }
  // The same with the shard's index, 0 <= shard < NumShards(total, grain): for partial sums.
  void ParallelShards(int64_t total, int64_t grain,
                      FunctionRef<void(int shard, int64_t begin, int64_t end)> fn);

 private:
  struct alignas(64) Slot {
    std::atomic<bool> offered{false};
  };
  using ShardFn = FunctionRef<void(int, int64_t, int64_t)>;
  struct Job {
    const ShardFn* fn = nullptr;
    int64_t total = 0;
    int num_shards = 0;
    int limit = 0;
  };

  void Stop();
  void Dispatch(const Job& job);
  void AwaitShards() const;
  void WorkerLoop(int thread);
  uint32_t AwaitNewJob(uint32_t seen) const;
  bool Take(int slot);
  // Runs what is on offer, the thread's own shard first.
  void WorkOnOffers(int thread);
  void RunShard(int shard);

  const int size_;
  std::mutex in_use_;  // held by the thread whose job the team works on
  // Written only while no shard is on offer or running; read after taking a shard.
  Job job_;
  std::unique_ptr<Slot[]> slots_;
  alignas(64) std::atomic<uint32_t> generation_{0};  // counts jobs; workers watch it
  std::atomic<bool> stopping_{false};
  alignas(64) std::atomic<int> unfinished_{0};
  std::mutex error_mutex_;
  std::exception_ptr error_;
  int error_shard_ = 0;
  std::vector<std::thread> workers_;
};

}  // namespace sextant

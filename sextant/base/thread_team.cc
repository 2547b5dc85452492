// A fork-join pool for one job at a time. The caller writes the job, offers one slot per shard and
// increments "generation_"; workers that see it take shards, each its own first, then what others
// left, as does the caller. It returns when "unfinished_" is 0.
//
//   shards of [0, 10) for 4 threads:  [0, 2) [2, 5) [5, 7) [7, 10)   by total and count alone
//
// Invariant: a slot on offer always belongs to the job in job_: a job ends only when each of its
// slots was taken and its shard has ended, and the next job is written after that. So a worker that
// wakes late for an old job may take what it finds. Results do not depend on who runs what: bounds
// follow from sizes, and per-shard results are combined in the order of the shards.
//
// Waiting is in stages: spin with pauses, then yield, then sleep on the atomic (futex), because the
// gaps between steps of a Plan are microseconds and a wake-up costs about as much. A call from
// inside a job, or while another thread has the team, runs its shards on the calling thread; inside
// a schedule (runtime/schedule_run.cc) they are offered through a ShardExchange instead.
#include "sextant/base/thread_team.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <limits>

#include "sextant/base/error.h"
#include "sextant/base/pause.h"
#include "sextant/base/shard_exchange.h"

namespace sextant {
namespace {

using Clock = std::chrono::steady_clock;

// A worker spins this long for the next job before it sleeps: longer than the gaps between the
// steps of a plan, shorter than anyone else on the processor would notice.
constexpr auto kWorkerSpin = std::chrono::microseconds(100);
constexpr int kPausesPerClockRead = 16;
// From then on it leaves the processor to other threads, threads that read input among
// them.
constexpr int kRoundsBeforeYield = 6;
constexpr int kCallerPauses = 64;
// A caller that waits longer for a thread that lost its processor leaves its own to it.
constexpr auto kCallerSpin = std::chrono::microseconds(30);

struct ThreadState {
  bool in_job = false;
  int limit = std::numeric_limits<int>::max();
  ShardExchange* exchange = nullptr;
  int worker = 0;
};
thread_local ThreadState this_thread;

// While a thread runs a shard, jobs that it starts run on it alone.
class InShard {
 public:
  explicit InShard(int limit)
      : outer_(std::exchange(this_thread, {.in_job = true, .limit = limit})) {}
  ~InShard() { this_thread = outer_; }
  InShard(const InShard&) = delete;
  InShard& operator=(const InShard&) = delete;

 private:
  const ThreadState outer_;
};

int ProcessTeamSize() {
  if (const char* text = std::getenv("SEXTANT_THREADS")) {
    const int threads = std::atoi(text);
    if (threads > 0) return std::min(threads, 1024);
  }
  return static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
}

// total * shard / num_shards without overflow.
int64_t ShardBegin(int64_t total, int num_shards, int shard) {
  return total / num_shards * shard + total % num_shards * shard / num_shards;
}

}  // namespace

ThreadTeam& ThreadTeam::Process() {
  // Never destroyed: threads of the program may still use it while statics are torn down.
  static ThreadTeam& team = *new ThreadTeam(ProcessTeamSize());
  return team;
}

ThreadTeam::Limit::Limit(int max_threads) : previous_(this_thread.limit) {
  this_thread.limit = std::min(previous_, std::max(1, max_threads));
}

ThreadTeam::Limit::~Limit() { this_thread.limit = previous_; }

ThreadTeam::Alone::Alone() : previous_(std::exchange(this_thread.in_job, true)) {}

ThreadTeam::Alone::~Alone() { this_thread.in_job = previous_; }

ThreadTeam::Sharing::Sharing(ShardExchange& exchange, int worker) {
  this_thread.exchange = &exchange;
  this_thread.worker = worker;
}

ThreadTeam::Sharing::~Sharing() { this_thread.exchange = nullptr; }

ThreadTeam::ThreadTeam(int threads)
    : size_(std::max(1, threads)), slots_(std::make_unique<Slot[]>(size_)) {
  try {
    for (int i = 1; i < size_; ++i) workers_.emplace_back([this, i] { WorkerLoop(i); });
  } catch (...) {  // the system starts no more threads
    const Status status = CurrentStatus();
    Stop();
    throw Error(status);
  }
}

ThreadTeam::~ThreadTeam() { Stop(); }

void ThreadTeam::Stop() {
  stopping_.store(true);
  generation_.fetch_add(1);
  generation_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

int ThreadTeam::NumShards(int64_t total, int64_t grain) const {
  if (total <= 0) return 0;
  grain = std::max<int64_t>(1, grain);
  const int64_t wanted = total / grain + (total % grain != 0);
  return static_cast<int>(std::min<int64_t>({wanted, size_, this_thread.limit}));
}

void ThreadTeam::ParallelShards(int64_t total, int64_t grain, ShardFn fn) {
  const int num_shards = NumShards(total, grain);
  if (num_shards > 1 && !this_thread.in_job) {
    std::unique_lock lock(in_use_, std::try_to_lock);
    if (lock.owns_lock()) {
      Dispatch({&fn, total, num_shards, this_thread.limit});
      return;
    }
  }
  if (num_shards > 1 && this_thread.exchange != nullptr) {
    const int limit = this_thread.limit;
    this_thread.exchange->Run(this_thread.worker, num_shards, [&](int shard) {
      const InShard in_shard(limit);
      fn(shard, ShardBegin(total, num_shards, shard), ShardBegin(total, num_shards, shard + 1));
    });
    return;
  }
  for (int i = 0; i < num_shards; ++i) {
    fn(i, ShardBegin(total, num_shards, i), ShardBegin(total, num_shards, i + 1));
  }
}

// REQUIRES: in_use_ is held.
void ThreadTeam::Dispatch(const Job& job) {
  job_ = job;
  unfinished_.store(job.num_shards, std::memory_order_relaxed);
  for (int i = 0; i < job.num_shards; ++i) slots_[i].offered.store(true, std::memory_order_release);
  // Sequentially consistent, so that it is not ordered after notify_all's look for sleepers.
  generation_.fetch_add(1);
  generation_.notify_all();

  WorkOnOffers(0);
  AwaitShards();
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void ThreadTeam::AwaitShards() const {
  for (int i = 0; i < kCallerPauses; ++i) {
    if (unfinished_.load(std::memory_order_acquire) == 0) return;
    Pause();
  }
  const auto sleep_time = Clock::now() + kCallerSpin;
  int left;
  while ((left = unfinished_.load(std::memory_order_acquire)) != 0) {
    if (Clock::now() < sleep_time) {
      std::this_thread::yield();
    } else {
      unfinished_.wait(left, std::memory_order_acquire);
    }
  }
}

void ThreadTeam::WorkerLoop(int thread) {
  uint32_t seen = 0;
  while (true) {
    seen = AwaitNewJob(seen);
    if (stopping_.load()) return;
    WorkOnOffers(thread);
  }
}

uint32_t ThreadTeam::AwaitNewJob(uint32_t seen) const {
  const auto sleep_time = Clock::now() + kWorkerSpin;
  for (int round = 0; Clock::now() < sleep_time; ++round) {
    for (int i = 0; i < kPausesPerClockRead; ++i) {
      const uint32_t generation = generation_.load(std::memory_order_acquire);
      if (generation != seen) return generation;
      Pause();
    }
    if (round > kRoundsBeforeYield) std::this_thread::yield();
  }
  generation_.wait(seen, std::memory_order_acquire);
  return generation_.load(std::memory_order_acquire);
}

bool ThreadTeam::Take(int slot) {
  // A shard on offer belongs to the job in job_, because that job cannot end before it has run: a
  // thread that comes late from an earlier job takes a shard of this one with full right.
  std::atomic<bool>& offered = slots_[slot].offered;
  return offered.load(std::memory_order_relaxed) &&
         offered.exchange(false, std::memory_order_acquire);
}

void ThreadTeam::WorkOnOffers(int thread) {
  for (int i = 0; i < size_; ++i) {
    const int slot = thread + i < size_ ? thread + i : thread + i - size_;
    if (Take(slot)) RunShard(slot);
  }
}

void ThreadTeam::RunShard(int shard) {
  try {
    const InShard in_shard(job_.limit);
    (*job_.fn)(shard, ShardBegin(job_.total, job_.num_shards, shard),
               ShardBegin(job_.total, job_.num_shards, shard + 1));
  } catch (...) {
    std::lock_guard lock(error_mutex_);
    if (!error_ || shard < error_shard_) {
      error_ = std::current_exception();
      error_shard_ = shard;
    }
  }
  if (unfinished_.fetch_sub(1, std::memory_order_release) == 1) unfinished_.notify_one();
}

}  // namespace sextant

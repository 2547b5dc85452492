// Each worker has a list of steps and a count of those that are done; a step begins when the counts
// it waits for are reached (Schedule::Wait). There is one lock-free flag per worker: who sets it
// may run the worker's next step, so a thread that waits, or finishes early, runs steps of other
// workers, one at a time, and otherwise takes shards of loops inside steps that run
// (ShardExchange). A team may be smaller than the schedule, or a thread of it may have lost its
// processor: the run needs one thread to come.
//
//   worker 0:  b d          done: 1     thread 0 runs d
//   worker 1:  a c          done: 1     thread 1: c waits for d; it helps with loops of d
//
// Invariant: "done" of a worker only grows, and is written by the holder of its flag after all that
// the step wrote; a reader with acquire order sees that. A failed step counts as done, so no
// worker waits for it; steps after it in the Plan are passed over and the lowest error is thrown,
// as if the steps had run in order.
//
// Waiting threads spin, then yield, then sleep on "pulse_", which changes when a step ends while
// somebody sleeps.
#include "sextant/runtime/schedule_run.h"

#include <array>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "sextant/base/input_limits.h"
#include "sextant/base/pause.h"
#include "sextant/base/shard_exchange.h"
#include "sextant/base/thread_team.h"
#include "sextant/runtime/list_scheduler.h"
#include "sextant/runtime/step_runner.h"

namespace sextant {
namespace {

constexpr int kTriesBeforeYield = 100;
constexpr int kTriesBeforeSleep = 150;
static_assert(Schedule::kMaxWorkers <= ShardExchange::kMaxWorkers);

class ScheduleRun {
 public:
  ScheduleRun(const Plan& plan, Frame& frame, const Schedule& schedule, const RunEnvironment& run)
      : plan_(plan), frame_(frame), schedule_(schedule), run_(run) {
    for (const auto& [slot, count] : schedule.shared) {
      frame.readers[slot].store(count, std::memory_order_relaxed);
    }
  }

  void Run() {
    const ThreadTeam::Limit limit(run_.max_threads > 0 ? run_.max_threads : run_.team->size());
    run_.team->ParallelShards(count(), 1, [this](int shard, int64_t, int64_t) { Work(shard); });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct alignas(64) Worker {
    std::atomic<int32_t> done{0};
    std::atomic<bool> taken{false};  // by the thread that runs its steps
  };

  int count() const { return static_cast<int>(schedule_.workers.size()); }
  bool Finished(int worker) const {
    return state_[worker].done.load(std::memory_order_acquire) ==
           static_cast<int32_t>(schedule_.workers[worker].size());
  }

  // Works on worker "own" first. While it must wait, it helps with the others, a step at a time, or
  // with a loop of a step that runs.
  void Work(int own) {
    const ThreadTeam::Sharing sharing(exchange_, own);
    const InputLimitsScope limits(limits_);
    StepRunner runner(plan_, frame_, run_);
    for (int tries = 0; !AllFinished();) {
      if (Advance(own, runner) || exchange_.Help()) {
        tries = 0;
      } else if (++tries > kTriesBeforeSleep) {
        Sleep(own, runner);
      } else if (tries > kTriesBeforeYield) {
        std::this_thread::yield();
      } else {
        Pause();
      }
    }
  }

  bool AllFinished() const {
    for (int worker = 0; worker < count(); ++worker) {
      if (!Finished(worker)) return false;
    }
    return true;
  }

  bool Advance(int own, StepRunner& runner) {
    if (AdvanceWorker(own, runner, /*whole=*/true)) return true;
    for (int worker = 0; worker < count(); ++worker) {
      if (worker != own && AdvanceWorker(worker, runner, /*whole=*/false)) return true;
    }
    return false;
  }

  // Runs the next step of a worker, or all that need not wait; false when nothing can be done.
  bool AdvanceWorker(int worker, StepRunner& runner, bool whole) {
    Worker& state = state_[worker];
    const std::vector<Schedule::WorkerStep>& steps = schedule_.workers[worker];
    if (Finished(worker) || state.taken.exchange(true, std::memory_order_acquire)) return false;
    int32_t at = state.done.load(std::memory_order_relaxed);
    const int32_t begin = at, end = static_cast<int32_t>(steps.size());
    while (at < end && (whole || at == begin) && MayBegin(steps[at])) {
      Perform(steps[at], runner);
      state.done.store(++at);  // sequentially consistent, so that WakeSleepers sees who missed it
      WakeSleepers();
    }
    state.taken.store(false, std::memory_order_release);
    return at > begin;
  }

  bool MayBegin(const Schedule::WorkerStep& step) const {
    for (const auto& [worker, needed] : step.after) {
      if (state_[worker].done.load(std::memory_order_acquire) < needed) return false;
    }
    return true;
  }

  // After an error only the steps before it matter: one of them may be the first to fail.
  void Perform(const Schedule::WorkerStep& worker_step, StepRunner& runner) {
    if (worker_step.step > failed_.load(std::memory_order_relaxed)) return;
    const Step& step = plan_.steps[worker_step.step];
    if (step.once && frame_.slots[step.io.outputs[0]].valid()) return;
    try {
      if (run_.cancellation->cancelled()) [[unlikely]]
        run_.cancellation->ThrowIfCancelled();
      runner.Run(step);
    } catch (...) {
      return Fail(worker_step.step);
    }
    for (const int32_t slot : worker_step.release) frame_.slots[slot] = Tensor();
    for (const int32_t slot : worker_step.shared) {
      if (frame_.readers[slot].fetch_sub(1, std::memory_order_acq_rel) == 1) {
        frame_.slots[slot] = Tensor();
      }
    }
  }

  void Fail(int32_t index) {
    const std::lock_guard lock(error_mutex_);
    if (index > failed_) return;
    failed_ = index;
    try {
      ThrowNamed(plan_.steps[index], run_);
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  // Until another step has ended. Leaving the processor lets the kernel give it to a thread of the
  // team that has lost its own.
  void Sleep(int own, StepRunner& runner) {
    sleepers_.fetch_add(1);
    const uint32_t pulse = pulse_.load();
    if (!AllFinished() && !Advance(own, runner)) pulse_.wait(pulse);
    sleepers_.fetch_sub(1);
  }
  void WakeSleepers() {
    if (sleepers_.load() == 0) [[likely]]
      return;
    pulse_.fetch_add(1);
    pulse_.notify_all();
  }

  const Plan& plan_;
  Frame& frame_;
  const Schedule& schedule_;
  const RunEnvironment& run_;
  const InputLimits limits_ = InputLimits::Current();  // of the thread that runs the Plan
  std::array<Worker, Schedule::kMaxWorkers> state_;
  ShardExchange exchange_;
  std::atomic<int32_t> sleepers_{0};
  std::atomic<uint32_t> pulse_{0};
  std::atomic<int32_t> failed_{std::numeric_limits<int32_t>::max()};
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace

void RunSchedule(const Plan& plan, Frame& frame, const Schedule& schedule,
                 const RunEnvironment& run) {
  ScheduleRun(plan, frame, schedule, run).Run();
}

}  // namespace sextant

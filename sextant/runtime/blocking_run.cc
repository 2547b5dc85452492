// One thread at a time computes: the one that has the Run's turn. It pops, of the steps whose
// predecessors have ended, the first in the order of the Plan, so that a Run in which nothing waits
// goes exactly as it would step by step. A kernel that must wait (RunWait) releases the turn; if
// steps are ready, a helper thread takes it and goes on with them until none is left. When
// the wait is over the kernel's thread acquires the turn again and finishes its step. This is the
// managed blocking of fork-join pools: at most one thread more than steps that wait, and none while
// none waits.
//
//   x = Dequeue(q)         the caller's thread finds q empty and releases the turn
//   Enqueue(q, 33)         a helper runs it and finds nothing else
//   y = x + 1              the caller's thread, which has its 33
//
// Branches and loops run Plans inside a step: each is a level with ready steps of its own, so that
// a dequeue in a loop's body lets the steps outside of the loop go on too.
//
// Invariant: while steps are ready and none has failed, a thread has the turn, a helper is about to
// take it, or a kernel whose wait is over is. A failure cancels the Run's own token; the kernels
// that wait end with it, and each level ends when none of its steps runs any more.
//
// Lea, A Java fork/join framework, 2000; ForkJoinPool.ManagedBlocker.
#include "sextant/runtime/blocking_run.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/input_limits.h"
#include "sextant/device/run_wait.h"
#include "sextant/runtime/step_runner.h"

namespace sextant {
namespace {

// A Plan that is being run.
struct Level {
  Level(const Plan& p, Frame& f, StepTrace* t)
      : plan(p), frame(f), trace(t), waits_for(p.order->num_before), unfinished(p.steps.size()) {
    for (size_t i = 0; i < waits_for.size(); ++i) {
      if (waits_for[i] == 0) ready.push(static_cast<int32_t>(i));
    }
    for (const auto& [slot, count] : plan.shared_slots) {
      frame.readers[slot].store(count, std::memory_order_relaxed);
    }
  }

  const Plan& plan;
  Frame& frame;
  StepTrace* const trace;
  std::vector<int32_t> waits_for;  // per step: predecessors that have not ended
  std::priority_queue<int32_t, std::vector<int32_t>, std::greater<>> ready;
  size_t unfinished;
  int running = 0;  // steps, those that wait included
};

class BlockingRun final : public StepTurn {
 public:
  explicit BlockingRun(const RunEnvironment& outer)
      : run_(outer), scope_(CancellationScope::Current()) {
    run_.cancellation = &cancellation_;
    run_.turn = this;
    outer_link_ = outer.cancellation->OnCancel(
        [this, token = outer.cancellation] { cancellation_.Cancel(token->status()); });
  }

  // REQUIRES: the calling thread has the turn.
  void RunLevel(Level& level) {
    std::unique_lock lock(mutex_);
    levels_.push_back(&level);
    while (!Ended(level)) {
      if (!error_ && !level.ready.empty()) {
        RunNext(level, lock);
        continue;
      }
      GiveTurn();
      TakeTurn(lock, [&] { return Ended(level) || (!error_ && !level.ready.empty()); });
    }
    std::erase(levels_, &level);
    if (error_) std::rethrow_exception(error_);
  }

  void JoinHelpers() {
    {
      const std::lock_guard lock(mutex_);
      taken_ = false;
      done_ = true;
    }
    changed_.notify_all();
    for (std::thread& helper : helpers_) helper.join();
  }

  void Release() override {
    const std::lock_guard lock(mutex_);
    GiveTurn();
  }
  void Acquire() override {
    std::unique_lock lock(mutex_);
    TakeTurn(lock, [] { return true; });
  }

 private:
  // REQUIRES: mutex_ is held, for all below but Help, Perform, Fail and CancelWaiting.

  bool Ended(const Level& level) const {
    return level.unfinished == 0 || (error_ && level.running == 0);
  }

  Level* FindReady() const {
    for (auto level = levels_.rbegin(); level != levels_.rend() && !error_; ++level) {
      if (!(*level)->ready.empty()) return *level;
    }
    return nullptr;
  }

  void GiveTurn() {
    if (!helper_wanted_ && FindReady()) {
      try {
        if (idle_helpers_ == 0) helpers_.emplace_back([this] { Help(); });
        helper_wanted_ = true;
      } catch (const std::exception& e) {
        error_ = std::make_exception_ptr(ResourceExhausted(
            "no thread for the steps that run while another waits: {}", e.what()));
        CancelWaiting();
      }
    }
    taken_ = false;
    changed_.notify_all();
  }

  template <typename Wanted>
  void TakeTurn(std::unique_lock<std::mutex>& lock, Wanted wanted) {
    changed_.wait(lock, [&] { return !taken_ && wanted(); });
    taken_ = true;
  }

  void Help() {
    const CancellationScope scope(scope_);
    const InputLimitsScope limits(limits_);
    for (std::unique_lock lock(mutex_);;) {
      ++idle_helpers_;
      changed_.wait(lock, [&] { return done_ || (helper_wanted_ && !taken_); });
      --idle_helpers_;
      if (done_) return;
      taken_ = true;
      helper_wanted_ = false;
      while (Level* level = FindReady()) RunNext(*level, lock);
      taken_ = false;
      changed_.notify_all();
    }
  }

  void RunNext(Level& level, std::unique_lock<std::mutex>& lock) {
    const int32_t index = level.ready.top();
    level.ready.pop();
    ++level.running;
    lock.unlock();
    try {
      Perform(level, level.plan.steps[index]);
    } catch (...) {
      Fail(level.plan.steps[index]);
    }
    lock.lock();
    --level.running;
    --level.unfinished;
    for (const int32_t next : level.plan.order->after[index]) {
      if (--level.waits_for[next] == 0) level.ready.push(next);
    }
  }

  void Perform(Level& level, const Step& step) {
    run_.cancellation->ThrowIfCancelled();
    Frame& frame = level.frame;
    StepRunner runner(level.plan, frame, run_, level.trace);
    if (!level.plan.has_conditionals || !runner.Dead(step)) {
      if (step.once && frame.slots[step.io.outputs[0]].valid()) return;
      runner.RunTraced(step);
    }
    for (const int32_t slot : step.release) frame.slots[slot] = Tensor();
    for (const int32_t slot : step.release_when_last) {
      if (frame.readers[slot].fetch_sub(1, std::memory_order_relaxed) == 1) {
        frame.slots[slot] = Tensor();
      }
    }
  }

  // In a handler.
  void Fail(const Step& step) {
    std::exception_ptr error;
    try {
      ThrowNamed(step, run_);
    } catch (...) {
      error = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      if (error_) return;
      error_ = error;
    }
    CancelWaiting();
  }

  void CancelWaiting() {
    cancellation_.Cancel(Status(Code::kCancelled, "another step of the run has failed"));
  }

  RunEnvironment run_;
  CancellationToken* const scope_;  // of the thread that runs the Plan, as the limits
  const InputLimits limits_ = InputLimits::Current();
  CancellationToken cancellation_;
  CancellationToken::Registration outer_link_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool taken_ = true;  // the turn, by the thread that made this
  bool helper_wanted_ = false;
  bool done_ = false;
  int idle_helpers_ = 0;
  std::vector<Level*> levels_;  // innermost last
  std::vector<std::thread> helpers_;
  std::exception_ptr error_;
};

}  // namespace

void RunBlockingPlan(const Plan& plan, Frame& frame, const RunEnvironment& run, StepTrace* trace) {
  Level level(plan, frame, trace);
  // Only this function makes turns.
  if (run.turn != nullptr) return static_cast<BlockingRun*>(run.turn)->RunLevel(level);
  BlockingRun blocking(run);
  std::exception_ptr error;
  try {
    blocking.RunLevel(level);
  } catch (...) {
    error = std::current_exception();
  }
  blocking.JoinHelpers();
  if (error) std::rethrow_exception(error);
}

}  // namespace sextant

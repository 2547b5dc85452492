#include "sextant/runtime/lane_run.h"

#include <array>
#include <atomic>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "sextant/base/pause.h"
#include "sextant/base/shard_exchange.h"
#include "sextant/base/thread_team.h"
#include "sextant/runtime/lanes.h"
#include "sextant/runtime/step_runner.h"

namespace sextant {
namespace {

constexpr int kTriesBeforeYield = 100;
constexpr int kTriesBeforeSleep = 150;
static_assert(Lanes::kMost <= ShardExchange::kSeats);

class LaneRun {
 public:
  LaneRun(const Plan& plan, Frame& frame, const Lanes& lanes, const RunState& run)
      : plan_(plan), frame_(frame), lanes_(lanes), run_(run) {
    for (const auto& [slot, count] : lanes.shared) {
      frame.readers[slot].store(count, std::memory_order_relaxed);
    }
  }

  void Run() {
    const ThreadTeam::Limit limit(run_.max_threads > 0 ? run_.max_threads : run_.team->size());
    run_.team->ParallelShards(count(), 1, [this](int shard, int64_t, int64_t) { Work(shard); });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  struct alignas(64) Lane {
    std::atomic<int32_t> done{0};
    std::atomic<bool> taken{false};  // by the thread that runs its steps
  };

  int count() const { return static_cast<int>(lanes_.lanes.size()); }
  bool Finished(int lane) const {
    return state_[lane].done.load(std::memory_order_acquire) ==
           static_cast<int32_t>(lanes_.lanes[lane].size());
  }

  // Works on lane "own" first. While it must wait, it helps with the others, a step at a time, or
  // with a loop of a step that runs.
  void Work(int own) {
    const ThreadTeam::Sharing sharing(exchange_, own);
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
    for (int lane = 0; lane < count(); ++lane) {
      if (!Finished(lane)) return false;
    }
    return true;
  }

  bool Advance(int own, StepRunner& runner) {
    if (AdvanceLane(own, runner, /*whole=*/true)) return true;
    for (int lane = 0; lane < count(); ++lane) {
      if (lane != own && AdvanceLane(lane, runner, /*whole=*/false)) return true;
    }
    return false;
  }

  // Runs the next step of a lane, or all that need not wait; false when nothing can be done.
  bool AdvanceLane(int lane, StepRunner& runner, bool whole) {
    Lane& state = state_[lane];
    const std::vector<Lanes::LaneStep>& steps = lanes_.lanes[lane];
    if (Finished(lane) || state.taken.exchange(true, std::memory_order_acquire)) return false;
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

  bool MayBegin(const Lanes::LaneStep& step) const {
    for (const auto& [lane, needed] : step.after) {
      if (state_[lane].done.load(std::memory_order_acquire) < needed) return false;
    }
    return true;
  }

  // After an error only the steps before it matter: one of them may be the first to fail.
  void Perform(const Lanes::LaneStep& lane_step, StepRunner& runner) {
    if (lane_step.step > failed_.load(std::memory_order_relaxed)) return;
    const Step& step = plan_.steps[lane_step.step];
    if (step.once && frame_.slots[step.io.outputs[0]].valid()) return;
    try {
      if (run_.cancellation->cancelled()) [[unlikely]]
        run_.cancellation->ThrowIfCancelled();
      runner.Run(step);
    } catch (...) {
      return Fail(lane_step.step);
    }
    for (const int32_t slot : lane_step.release) frame_.slots[slot] = Tensor();
    for (const int32_t slot : lane_step.shared) {
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
  const Lanes& lanes_;
  const RunState& run_;
  std::array<Lane, Lanes::kMost> state_;
  ShardExchange exchange_;
  std::atomic<int32_t> sleepers_{0};
  std::atomic<uint32_t> pulse_{0};
  std::atomic<int32_t> failed_{std::numeric_limits<int32_t>::max()};
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace

void RunInLanes(const Plan& plan, Frame& frame, const Lanes& lanes, const RunState& run) {
  LaneRun(plan, frame, lanes, run).Run();
}

}  // namespace sextant

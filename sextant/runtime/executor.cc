#include "sextant/runtime/executor.h"

#include <algorithm>
#include <chrono>

#include "sextant/base/thread_team.h"
#include "sextant/runtime/blocking_run.h"
#include "sextant/runtime/schedule_run.h"
#include "sextant/runtime/schedule_trial.h"
#include "sextant/runtime/step_runner.h"

namespace sextant {
namespace {

double Nanoseconds() {
  return static_cast<double>(std::chrono::steady_clock::now().time_since_epoch().count());
}

class PlanRun {
 public:
  PlanRun(const Plan& plan, Frame& frame, const RunEnvironment& run, StepTrace* trace)
      : plan_(plan), frame_(frame), run_(run), trace_(trace) {}

  void Run(std::span<Tensor> feeds, std::span<Tensor> fetches) {
    for (size_t i = 0; i < feeds.size(); ++i) {
      if (plan_.feed_slots[i] >= 0) frame_.slots[plan_.feed_slots[i]] = std::move(feeds[i]);
    }
    try {
      RunAll();
      Fetch(fetches);
    } catch (...) {
      ReleaseAll();
      throw;
    }
    for (int32_t slot : plan_.feed_slots) {
      if (slot >= 0) frame_.slots[slot] = Tensor();
    }
    for (int32_t slot : plan_.fetch_slots) ReleaseFetched(slot);
    if (frame_.calls) frame_.calls->End();
  }

 private:
  enum class Times : uint8_t { kNone, kTraced, kTried };

  // Traced runs are step by step, so that the times are those of single steps.
  void RunAll() {
    if (plan_.order) return RunBlockingPlan(plan_, frame_, run_, trace_);
    if (trace_) return RunSteps<Times::kTraced>();
    if (!frame_.trial) return RunSteps<Times::kNone>();
    ScheduleTrial& trial = *frame_.trial;
    const ScheduleTrial::Way way = trial.Next(Threads());
    const double start = trial.times_run() ? Nanoseconds() : 0;
    switch (way) {
      case ScheduleTrial::Way::kPlain:
        RunSteps<Times::kNone>();
        break;
      case ScheduleTrial::Way::kSteps: {
        const ThreadTeam::Alone alone;
        RunSteps<Times::kTried>();
        break;
      }
      case ScheduleTrial::Way::kScheduled:
        RunSchedule(plan_, frame_, trial.schedule(), run_);
        break;
    }
    if (trial.times_run()) trial.RecordRun(Nanoseconds() - start);
  }

  int Threads() const {
    const int all = run_.team == nullptr ? 1 : run_.team->size();
    return run_.max_threads > 0 ? std::min(run_.max_threads, all) : all;
  }

  template <Times times>
  void RunSteps() {
    StepRunner runner(plan_, frame_, run_, trace_);
    const Step* step = plan_.steps.data();
    const Step* const end = step + plan_.steps.size();
    try {
      for (; step != end; ++step) {
        if (run_.cancellation->cancelled()) [[unlikely]]
          run_.cancellation->ThrowIfCancelled();
        if (plan_.has_conditionals && runner.Dead(*step)) {
          for (int32_t slot : step->release) frame_.slots[slot] = Tensor();
          continue;
        }
        if (step->once && frame_.slots[step->io.outputs[0]].valid()) continue;
        if constexpr (times == Times::kTraced) {
          runner.RunTraced(*step);
        } else if constexpr (times == Times::kTried) {
          const double start = Nanoseconds();
          runner.Run(*step);
          frame_.trial->RecordStep(step - plan_.steps.data(), Nanoseconds() - start);
        } else {
          runner.Run(*step);
        }
        for (int32_t slot : step->release) frame_.slots[slot] = Tensor();
      }
    } catch (...) {
      ThrowNamed(*step, run_);
    }
  }

  void Fetch(std::span<Tensor> fetches) {
    for (size_t i = 0; i < fetches.size(); ++i) {
      const int32_t slot = plan_.fetch_slots[i];
      if (slot < 0) continue;
      if (plan_.has_conditionals && frame_.dead_slots[slot]) {
        throw InvalidArgument("{} has no value: it lies on a branch that was not taken",
                              plan_.fetch_names[i]);
      }
      fetches[i] = frame_.slots[slot].Persistent();
    }
  }

  void ReleaseFetched(int32_t slot) {
    if (slot >= 0 && !plan_.keeps_value(slot)) frame_.slots[slot] = Tensor();
  }

  void ReleaseAll() {
    if (frame_.calls) frame_.calls->End();
    for (int32_t slot : plan_.dynamic_slots) frame_.slots[slot] = Tensor();
  }

  const Plan& plan_;
  Frame& frame_;
  const RunEnvironment& run_;
  StepTrace* const trace_;
};

}  // namespace

void RunPlan(const Plan& plan, Frame& frame, const RunEnvironment& run, std::span<Tensor> feeds,
             std::span<Tensor> fetches, StepTrace* trace) {
  PlanRun(plan, frame, run, trace).Run(feeds, fetches);
}

}  // namespace sextant

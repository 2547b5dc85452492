#include "sextant/train/hooks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cmath>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/nn/summaries.h"
#include "sextant/train/hook_timer.h"

namespace sextant::train {
namespace {

class StopAtStepHook : public Hook {
 public:
  StopAtStepHook(std::optional<int64_t> last, int64_t count) : last_(last), count_(count) {}
  void BeforeRun(RunContext& run) override {
    if (!last_) last_ = run.global_step() + count_;
  }
  void AfterRun(RunContext& run) override {
    if (run.global_step() >= *last_) run.RequestStop();
  }

 private:
  std::optional<int64_t> last_;
  const int64_t count_;
};

class LogTensorsHook : public Hook {
 public:
  LogTensorsHook(std::vector<std::pair<std::string, Output>> tensors, Every every)
      : tensors_(std::move(tensors)), timer_(every) {}
  void BeforeRun(RunContext& run) override {
    due_ = timer_.Due(iteration_);
    if (!due_) return;
    for (const auto& [name, tensor] : tensors_) run.Fetch(tensor);
  }
  void AfterRun(RunContext& run) override {
    if (due_) {
      std::vector<std::string> parts;
      for (const auto& [name, tensor] : tensors_) {
        parts.push_back(fmt::format("{} = {}", name, run.Value(tensor).ToString()));
      }
      const auto elapsed = timer_.Fire(iteration_);
      const std::string text = fmt::format("{}", fmt::join(parts, ", "));
      if (elapsed) {
        LogInfo("{} ({:.3f} sec)", text, elapsed->seconds);
      } else {
        LogInfo("{}", text);
      }
    }
    ++iteration_;
  }

 private:
  const std::vector<std::pair<std::string, Output>> tensors_;
  HookTimer timer_;
  int64_t iteration_ = 0;
  bool due_ = false;
};

class CountStepsHook : public Hook {
 public:
  CountStepsHook(Every every, std::function<void(const std::string&, float, int64_t)> scalar)
      : timer_(every), scalar_(std::move(scalar)) {}
  void AfterRun(RunContext& run) override {
    const int64_t step = run.global_step();
    if (!timer_.Due(step)) return;
    const auto elapsed = timer_.Fire(step);
    if (!elapsed) return;  // the first time only sets the clock
    const double rate = static_cast<double>(elapsed->steps) / elapsed->seconds;
    LogInfo("global_step/sec: {:g}", rate);
    if (scalar_) scalar_("global_step/sec", static_cast<float>(rate), step);
  }
  std::string SaveState() const override { return timer_.Save(); }
  void RestoreState(const std::string& bytes) override { timer_.Restore(bytes); }
  std::string name() const override { return "count_steps"; }

 private:
  HookTimer timer_;
  const std::function<void(const std::string&, float, int64_t)> scalar_;
};

class ExamplesPerSecondHook : public Hook {
 public:
  ExamplesPerSecondHook(int64_t batch, Every every, int64_t warm_up)
      : batch_(static_cast<double>(batch)), timer_(every), warm_up_(warm_up) {}

  void BeforeRun(RunContext& run) override {
    if (!first_) first_ = run.global_step();
  }
  void AfterRun(RunContext& run) override {
    const int64_t step = run.global_step();
    if (step < *first_ + warm_up_ || !timer_.Due(step)) return;
    const auto elapsed = timer_.Fire(step);
    if (!elapsed) return;  // the first time only sets the clock
    seconds_ += elapsed->seconds;
    steps_ += elapsed->steps;
    LogInfo("Average examples/sec: {:g} ({:g}), step = {}",
            batch_ * static_cast<double>(steps_) / seconds_,
            batch_ * static_cast<double>(elapsed->steps) / elapsed->seconds, steps_);
  }

 private:
  const double batch_;
  HookTimer timer_;
  const int64_t warm_up_;
  std::optional<int64_t> first_;
  int64_t steps_ = 0;
  double seconds_ = 0;
};

class StopOnNanHook : public Hook {
 public:
  StopOnNanHook(Output loss, bool quietly) : loss_(loss), quietly_(quietly) {}
  void BeforeRun(RunContext& run) override { run.Fetch(loss_); }
  void AfterRun(RunContext& run) override {
    if (!std::isnan(run.Value(loss_).AsDouble())) return;
    if (!quietly_) {
      throw Internal(
          "the loss {} is not a number; lower the learning rate, clip gradients, or look for "
          "divisions by zero and logarithms of zero in the model",
          loss_.name());
    }
    LogWarning("The loss {} is not a number: stopping", loss_.name());
    run.RequestStop();
  }

 private:
  const Output loss_;
  const bool quietly_;
};

class SaveSummariesHook : public Hook {
 public:
  SaveSummariesHook(std::function<void(const std::string&, int64_t)> take, Every every)
      : take_(std::move(take)), timer_(every) {}
  void Begin() override { merged_ = summaries::MergeAll(); }
  void BeforeRun(RunContext& run) override {
    due_ = merged_ && timer_.Due(run.global_step() + 1);
    if (due_) run.Fetch(merged_);
  }
  void AfterRun(RunContext& run) override {
    if (!due_) return;
    timer_.Fire(run.global_step());
    take_(run.Value(merged_).scalar<std::string>(), run.global_step());
  }
  std::string SaveState() const override { return timer_.Save(); }
  void RestoreState(const std::string& bytes) override { timer_.Restore(bytes); }
  std::string name() const override { return "save_summaries"; }

 private:
  const std::function<void(const std::string&, int64_t)> take_;
  HookTimer timer_;
  Output merged_;
  bool due_ = false;
};

class FeedHook : public Hook {
 public:
  explicit FeedHook(std::function<FeedMap()> feeds) : feeds_(std::move(feeds)) {}
  void BeforeRun(RunContext& run) override {
    for (auto& [tensor, value] : feeds_()) run.Feed(tensor, value);
  }

 private:
  const std::function<FeedMap()> feeds_;
};

class FetchAtEndHook : public Hook {
 public:
  FetchAtEndHook(std::vector<Output> tensors, std::function<void(std::vector<Tensor>)> take)
      : tensors_(std::move(tensors)), take_(std::move(take)) {}
  void End(Session& session) override { take_(session.Run(tensors_)); }

 private:
  const std::vector<Output> tensors_;
  const std::function<void(std::vector<Tensor>)> take_;
};

class WaitForGlobalStepHook : public Hook {
 public:
  WaitForGlobalStepHook(int64_t step, const WaitOptions& options)
      : step_(step), options_(options) {}
  void BeforeRun(RunContext& run) override {
    if (done_) return;
    done_ = true;
    if (run.global_step() >= step_) return;
    LogInfo("Waiting for global step {} before starting training.", step_);
    const auto start = std::chrono::steady_clock::now();
    const auto poll = std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(options_.poll_seconds));
    while (run.global_step() < step_) {
      if (std::chrono::steady_clock::now() - start >
          std::chrono::duration<double>(options_.deadline_seconds)) {
        throw MakeError<Code::kDeadlineExceeded>(
            "the global step is {} and not {} after {:g} seconds of waiting", run.global_step(),
            step_, options_.deadline_seconds);
      }
      SleepUntil(std::chrono::steady_clock::now() + poll, CancellationScope::Current());
      run.ForgetGlobalStep();
    }
    LogInfo("Done waiting for global step {}, which is {} now.", step_, run.global_step());
  }

 private:
  const int64_t step_;
  const WaitOptions options_;
  bool done_ = false;
};

}  // namespace

HookRef StopAtStep(int64_t last) { return std::make_shared<StopAtStepHook>(last, 0); }
HookRef StopAfterSteps(int64_t count) {
  return std::make_shared<StopAtStepHook>(std::nullopt, count);
}
HookRef LogTensors(std::vector<std::pair<std::string, Output>> tensors, Every every) {
  return std::make_shared<LogTensorsHook>(std::move(tensors), every);
}
HookRef CountSteps(Every every, std::function<void(const std::string&, float, int64_t)> scalar) {
  return std::make_shared<CountStepsHook>(every, std::move(scalar));
}
HookRef ExamplesPerSecond(int64_t batch_size, Every every, int64_t warm_up) {
  return std::make_shared<ExamplesPerSecondHook>(batch_size, every, warm_up);
}
HookRef StopOnNan(Output loss, bool stop_quietly) {
  return std::make_shared<StopOnNanHook>(loss, stop_quietly);
}
HookRef SaveSummaries(std::function<void(const std::string&, int64_t)> take, Every every) {
  return std::make_shared<SaveSummariesHook>(std::move(take), every);
}
HookRef FeedEveryStep(std::function<FeedMap()> feeds) {
  return std::make_shared<FeedHook>(std::move(feeds));
}
HookRef FetchAtEnd(std::vector<Output> tensors, std::function<void(std::vector<Tensor>)> take) {
  return std::make_shared<FetchAtEndHook>(std::move(tensors), std::move(take));
}
HookRef WaitForGlobalStep(int64_t step, const WaitOptions& options) {
  return std::make_shared<WaitForGlobalStepHook>(step, options);
}

}  // namespace sextant::train

#include "sextant/train/hooks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/logging.h"
#include "sextant/train/global_step.h"
#include "sextant/train/hook_timer.h"

namespace sextant::train {
namespace {

// A hook that looks at the global step of every run.
class StepHook : public Hook {
 public:
  void Begin() override {
    step_ = GetGlobalStep(CurrentGraph());
    if (!step_) {
      throw FailedPrecondition(
          "the graph has no global step; make one with GetOrCreateGlobalStep()");
    }
  }
  void AfterCreateSession(Session& session) override {
    last_ = session.Run(step_.value()).scalar<int64_t>();
    Start(last_);
  }
  void AfterRun(RunContext& run) override {
    // Read after the update: a fetch of the same run could see either value.
    last_ = run.session().Run(step_.value()).scalar<int64_t>();
    After(run, last_);
  }

 protected:
  virtual void Start(int64_t step) { (void)step; }
  virtual void After(RunContext& run, int64_t step) = 0;
  int64_t last_step() const { return last_; }

 private:
  Variable step_;
  int64_t last_ = 0;
};

class StopAtStepHook : public StepHook {
 public:
  StopAtStepHook(std::optional<int64_t> last, int64_t count) : last_(last), count_(count) {}

 protected:
  void Start(int64_t step) override {
    if (!last_) last_ = step + count_;
  }
  void After(RunContext& run, int64_t step) override {
    if (step >= *last_) run.RequestStop();
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

class CountStepsHook : public StepHook {
 public:
  CountStepsHook(Every every, std::function<void(const std::string&, float, int64_t)> scalar)
      : timer_(every), scalar_(std::move(scalar)) {}

 protected:
  void Start(int64_t step) override { timer_.Fire(step); }
  void After(RunContext&, int64_t step) override {
    if (!timer_.Due(step)) return;
    const auto elapsed = timer_.Fire(step);
    const double rate = static_cast<double>(elapsed->steps) / elapsed->seconds;
    LogInfo("global_step/sec: {:g}", rate);
    if (scalar_) scalar_("global_step/sec", static_cast<float>(rate), step);
  }

 private:
  HookTimer timer_;
  const std::function<void(const std::string&, float, int64_t)> scalar_;
};

class ExamplesPerSecondHook : public StepHook {
 public:
  ExamplesPerSecondHook(int64_t batch, Every every, int64_t warm_up)
      : batch_(static_cast<double>(batch)), timer_(every), warm_up_(warm_up) {}

 protected:
  void Start(int64_t step) override { first_ = step; }
  void After(RunContext&, int64_t step) override {
    if (step < first_ + warm_up_ || !timer_.Due(step)) return;
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
  int64_t first_ = 0, steps_ = 0;
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

class ProfileHook : public StepHook {
 public:
  ProfileHook(std::string directory, Every every)
      : directory_(std::move(directory)), timer_(every) {}
  void BeforeRun(RunContext& run) override {
    due_ = timer_.Due(last_step() + 1);
    if (due_) run.Trace();
  }

 protected:
  void After(RunContext& run, int64_t step) override {
    if (!due_) return;
    timer_.Fire(step);
    FileSystem& fs = FileSystem::ForPath(directory_);
    fs.CreateDirectories(directory_);
    fs.WriteFileAtomically(JoinPath(directory_, fmt::format("timeline-{}.json", step)),
                           run.trace()->ChromeTrace());
  }

 private:
  const std::string directory_;
  HookTimer timer_;
  bool due_ = false;
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
HookRef FeedEveryStep(std::function<FeedMap()> feeds) {
  return std::make_shared<FeedHook>(std::move(feeds));
}
HookRef FetchAtEnd(std::vector<Output> tensors, std::function<void(std::vector<Tensor>)> take) {
  return std::make_shared<FetchAtEndHook>(std::move(tensors), std::move(take));
}
HookRef ProfileSteps(std::string directory, Every every) {
  return std::make_shared<ProfileHook>(std::move(directory), every);
}

}  // namespace sextant::train

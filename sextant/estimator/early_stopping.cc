#include "sextant/estimator/early_stopping.h"

#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/estimator/ledger.h"
#include "sextant/train/hook_timer.h"

namespace sextant {
namespace {

class StopIfHook : public train::Hook {
 public:
  StopIfHook(std::function<bool()> should_stop, train::Every every)
      : should_stop_(std::move(should_stop)), timer_(every) {}
  void AfterRun(train::RunContext& run) override {
    const int64_t step = run.global_step();
    if (!timer_.Due(step)) return;
    timer_.Fire(step);
    if (!should_stop_()) return;
    LogInfo("Requesting early stopping at global step {}", step);
    run.RequestStop();
  }

 private:
  const std::function<bool()> should_stop_;
  train::HookTimer timer_;
};

// The values of one metric, as the ledger of a model_dir has them, those of evaluators included.
class MetricHistory {
 public:
  MetricHistory(const Estimator& estimator, std::string metric, EarlyStoppingOptions options)
      : model_dir_(estimator.model_dir()),
        metric_(std::move(metric)),
        options_(std::move(options)) {}

  // Whether there may be more than last time: this process or another one has written a ledger. For
  // other processes it is asked every now and then.
  bool Changed() {
    const auto now = std::chrono::steady_clock::now();
    const int64_t own = Ledger::changes();
    if (own == own_changes_ && now < look_again_) return false;
    look_again_ = now + std::chrono::milliseconds(100);
    std::string files = Ledger::FilesText(model_dir_);
    const bool changed = own != own_changes_ || files != files_;
    own_changes_ = own;
    files_ = std::move(files);
    return changed;
  }
  std::vector<std::pair<int64_t, double>> Values() const {
    std::vector<std::pair<int64_t, double>> values;
    const Ledger ledger(model_dir_);
    for (const Ledger::Evaluation& evaluation : ledger.evaluations()) {
      if (evaluation.name != options_.eval_name || evaluation.step < options_.min_steps) continue;
      const auto it = evaluation.metrics.find(metric_);
      if (it != evaluation.metrics.end()) values.emplace_back(evaluation.step, it->second);
    }
    return values;
  }
  const std::string& metric() const { return metric_; }

 private:
  const std::string model_dir_, metric_;
  const EarlyStoppingOptions options_;
  int64_t own_changes_ = -1;
  std::string files_;
  std::chrono::steady_clock::time_point look_again_ = {};
};

using Better = bool (*)(double, double);
bool IsSmaller(double a, double b) { return a < b; }
bool IsLarger(double a, double b) { return a > b; }

train::HookRef StopWhen(MetricHistory history, std::function<bool(const MetricHistory&)> enough) {
  return StopIf(
      [history = std::move(history), enough = std::move(enough)]() mutable {
        return history.Changed() && enough(history);
      },
      {.steps = 1});
}

train::HookRef StopWithoutProgress(MetricHistory history, int64_t max_steps, Better better,
                                   const char* change) {
  if (max_steps <= 0) {
    throw InvalidArgument("early stopping needs at least 1 step without {} of '{}', not {}", change,
                          history.metric(), max_steps);
  }
  return StopWhen(std::move(history), [=](const MetricHistory& past) {
    std::optional<std::pair<int64_t, double>> best;
    for (const auto& [step, value] : past.Values()) {
      if (!best && std::isnan(value)) continue;
      if (!best || better(value, best->second)) best = {step, value};
      if (step - best->first < max_steps) continue;
      LogInfo(
          "No {} in metric \"{}\" for {} steps, which is greater than or equal to max steps ({})",
          change, past.metric(), step - best->first, max_steps);
      return true;
    }
    return false;
  });
}

train::HookRef StopBeyond(MetricHistory history, double threshold, Better beyond,
                          const char* where) {
  return StopWhen(std::move(history), [=](const MetricHistory& past) {
    for (const auto& [step, value] : past.Values()) {
      if (!beyond(value, threshold)) continue;
      LogInfo("At step {}, metric \"{}\" has value {:g} which is {} the threshold {:g}", step,
              past.metric(), value, where, threshold);
      return true;
    }
    return false;
  });
}

}  // namespace

train::HookRef StopIfNoDecrease(const Estimator& estimator, std::string metric, int64_t max_steps,
                                const EarlyStoppingOptions& options) {
  return StopWithoutProgress({estimator, std::move(metric), options}, max_steps, IsSmaller,
                             "decrease");
}
train::HookRef StopIfNoIncrease(const Estimator& estimator, std::string metric, int64_t max_steps,
                                const EarlyStoppingOptions& options) {
  return StopWithoutProgress({estimator, std::move(metric), options}, max_steps, IsLarger,
                             "increase");
}
train::HookRef StopIfHigher(const Estimator& estimator, std::string metric, double threshold,
                            const EarlyStoppingOptions& options) {
  return StopBeyond({estimator, std::move(metric), options}, threshold, IsLarger, "higher than");
}
train::HookRef StopIfLower(const Estimator& estimator, std::string metric, double threshold,
                           const EarlyStoppingOptions& options) {
  return StopBeyond({estimator, std::move(metric), options}, threshold, IsSmaller, "lower than");
}

train::HookRef StopIf(std::function<bool()> should_stop, train::Every every) {
  return std::make_shared<StopIfHook>(std::move(should_stop), every);
}

}  // namespace sextant

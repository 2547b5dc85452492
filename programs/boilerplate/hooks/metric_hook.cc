#include "boilerplate/hooks/metric_hook.h"

#include <chrono>

#include "boilerplate/hooks/hooks_helper.h"
#include "boilerplate/models/model_fn.h"

namespace sx = sextant;

namespace boilerplate {
namespace {

using Clock = std::chrono::steady_clock;

class MetricHook : public sx::train::Hook {
 public:
  MetricHook(std::shared_ptr<BenchmarkLogger> logger, double every_seconds)
      : logger_(std::move(logger)), every_seconds_(every_seconds) {}

  void Begin() override {
    tensors_.clear();
    for (const char* name : kLoggedTensors) tensors_.emplace_back(name, TensorByName(name));
    last_ = Clock::now();
  }
  void BeforeRun(sx::train::RunContext& run) override {
    for (const auto& [name, tensor] : tensors_) run.Fetch(tensor);
  }
  void AfterRun(sx::train::RunContext& run) override {
    step_ = run.global_step();
    values_.clear();
    for (const auto& [name, tensor] : tensors_) values_.push_back(run.Value(tensor).AsDouble());
    if (std::chrono::duration<double>(Clock::now() - last_).count() >= every_seconds_) Report();
  }
  void End(sx::Session&) override { Report(); }

 private:
  void Report() {
    for (size_t i = 0; i < values_.size(); ++i) {
      logger_->LogMetric(tensors_[i].first, values_[i], "", step_);
    }
    values_.clear();
    last_ = Clock::now();
  }

  const std::shared_ptr<BenchmarkLogger> logger_;
  const double every_seconds_;
  std::vector<std::pair<std::string, sx::Output>> tensors_;
  std::vector<double> values_;
  int64_t step_ = 0;
  Clock::time_point last_;
};

}  // namespace

sx::train::HookRef MakeMetricHook(std::shared_ptr<BenchmarkLogger> logger, double every_seconds) {
  return std::make_shared<MetricHook>(std::move(logger), every_seconds);
}

}  // namespace boilerplate

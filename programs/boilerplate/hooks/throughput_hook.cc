#include "boilerplate/hooks/throughput_hook.h"

#include <chrono>
#include <optional>

namespace sx = sextant;

namespace boilerplate {
namespace {

using Clock = std::chrono::steady_clock;

class ThroughputHook : public sx::train::Hook {
 public:
  ThroughputHook(int64_t batch_size, std::shared_ptr<BenchmarkLogger> logger, int64_t every_steps,
                 int64_t warm_up_steps)
      : batch_size_(static_cast<double>(batch_size)),
        logger_(std::move(logger)),
        every_steps_(every_steps),
        warm_up_steps_(warm_up_steps) {}

  void AfterRun(sx::train::RunContext& run) override {
    const int64_t step = run.global_step();
    if (!first_) first_ = step;
    if (step - *first_ < warm_up_steps_) return;
    const Clock::time_point now = Clock::now();
    if (last_step_ && step < *last_step_ + every_steps_) return;
    if (last_step_) Report(step, std::chrono::duration<double>(now - last_time_).count());
    last_step_ = step;  // the first time only the clock is set
    last_time_ = now;
  }

 private:
  void Report(int64_t step, double seconds) {
    const auto steps = static_cast<double>(step - *last_step_);
    total_steps_ += steps;
    total_seconds_ += seconds;
    logger_->LogMetric("average_examples_per_sec", batch_size_ * total_steps_ / total_seconds_, "",
                       step);
    logger_->LogMetric("current_examples_per_sec", batch_size_ * steps / seconds, "", step);
  }

  const double batch_size_;
  const std::shared_ptr<BenchmarkLogger> logger_;
  const int64_t every_steps_, warm_up_steps_;
  std::optional<int64_t> first_, last_step_;
  Clock::time_point last_time_;
  double total_steps_ = 0, total_seconds_ = 0;
};

}  // namespace

sx::train::HookRef MakeThroughputHook(int64_t batch_size, std::shared_ptr<BenchmarkLogger> logger,
                                      int64_t every_steps, int64_t warm_up_steps) {
  return std::make_shared<ThroughputHook>(batch_size, std::move(logger), every_steps,
                                          warm_up_steps);
}

}  // namespace boilerplate

// Chapter 6: code of your own around every step.
#include <fmt/core.h>

#include <chrono>

#include "sextant/sextant.h"

namespace sx = sextant;

// Logs examples per second every N steps: over the whole run, and since the last log line.
class ExamplesPerSecondHook : public sx::train::Hook {
 public:
  ExamplesPerSecondHook(double batch_size, int64_t every_steps)
      : batch_size_(batch_size), every_steps_(every_steps) {}

  void AfterRun(sx::train::RunContext& run) override {
    const auto now = std::chrono::steady_clock::now();
    const int64_t step = run.global_step();
    if (last_step_ >= 0 && step < last_step_ + every_steps_) return;
    if (last_step_ >= 0) Report(step - last_step_, now - last_time_);
    last_step_ = step;  // the first time only the clock is set
    last_time_ = now;
  }

  int lines() const { return lines_; }

 private:
  void Report(int64_t steps, std::chrono::duration<double> time) {
    total_steps_ += steps;
    total_time_ += time;
    const double average = batch_size_ * static_cast<double>(total_steps_) / total_time_.count();
    const double current = batch_size_ * static_cast<double>(steps) / time.count();
    sx::LogInfo("Average examples/sec: {:g} ({:g}), step = {}", average, current, total_steps_);
    ++lines_;
  }

  const double batch_size_;
  const int64_t every_steps_;
  int64_t last_step_ = -1, total_steps_ = 0;
  std::chrono::steady_clock::time_point last_time_;
  std::chrono::duration<double> total_time_{0};
  int lines_ = 0;
};

class StopWhenGood : public sx::train::Hook {
 public:
  explicit StopWhenGood(sx::Output loss) : loss_(loss) {}
  void BeforeRun(sx::train::RunContext& run) override { run.Fetch(loss_); }
  void AfterRun(sx::train::RunContext& run) override {
    if (run.Value(loss_).AsDouble() < 0.01) run.RequestStop();
  }

 private:
  sx::Output loss_;
};

sx::EstimatorSpec Line(const sx::ModelFnArgs& args) {
  auto y = sx::layers::Dense(args.features["x"], {.units = 1});
  auto spec = sx::heads::Regression().Spec(args, y, sx::train::Adam({.learning_rate = 0.1}));
  if (args.mode == sx::Mode::kTrain) {
    spec.training_hooks.push_back(std::make_shared<StopWhenGood>(spec.loss));
  }
  return spec;
}

sx::Input Points() {
  return sx::data::FromTensors({{"x", sx::Tensor::Of<float>({3, 1}, {0, 1, 2})},
                                {"label", sx::Tensor::Of<float>({3, 1}, {1, 3, 5})}})
      .Repeat();
}

int main() {
  auto estimator = sx::Estimator(Line, {.model_dir = "runs/line", .random_seed = 3});
  auto rate = std::make_shared<ExamplesPerSecondHook>(/*batch_size=*/3, /*every_steps=*/10);
  estimator.Train(Points, {.max_steps = 21, .hooks = {rate}});
  fmt::print("{} lines in 21 steps\n", rate->lines());
  const int64_t step = estimator.Train(Points, {.max_steps = 5000});
  fmt::print("stopped early: {}\n", step < 5000);
}

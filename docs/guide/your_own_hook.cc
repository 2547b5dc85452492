// Chapter 6: code of your own around every step.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

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
  const int64_t step = estimator.Train(Points, {.max_steps = 5000});
  fmt::print("stopped early: {}\n", step < 5000);
}

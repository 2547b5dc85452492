// Chapter 16: a program that trains alone or, started as the tasks of a cluster, with others.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

// y = 3 x, without end.
sx::Input TrainInput() {
  return {sx::data::FromTensorSlices({{"x", sx::Tensor::FromVector<float>({1, 2, 3, 4})},
                                      {"y", sx::Tensor::FromVector<float>({3, 6, 9, 12})}})
              .Repeat()
              .Batch(4),
          {"y"}};
}

sx::EstimatorSpec Line(const sx::ModelFnArgs& args) {
  const sx::Variable w("w", sx::Tensor(0.0f));
  const sx::Output y = w * args.features["x"];
  sx::EstimatorSpec spec{.predictions = {{"y", y}}};
  if (args.mode == sx::Mode::kPredict) return spec;
  spec.loss = sx::ReduceMean(sx::Square(y - args.labels["y"]));
  spec.train_op = sx::train::GradientDescent({.learning_rate = 0.01f})
                      .Minimize(spec.loss, {.global_step = sx::train::GetOrCreateGlobalStep()});
  return spec;
}

}  // namespace

int main() {
  sx::Estimator estimator(Line, {.model_dir = "line", .save_checkpoints_steps = 50});
  const auto result = sx::TrainAndEvaluate(estimator, {.input_fn = TrainInput, .max_steps = 100},
                                           {.input_fn = TrainInput, .steps = 1});
  if (!estimator.config().task.is_chief) return 0;
  fmt::print("w = {:.2f} after {} steps\n", estimator.VariableValue("w").AsDouble(),
             result.global_step);
}

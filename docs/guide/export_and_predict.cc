// Chapter 8: a trained model in a file, and asking it.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

sx::EstimatorSpec Line(const sx::ModelFnArgs& args) {
  auto y = sx::layers::Dense(args.features["x"], {.units = 1});
  return sx::heads::Regression().Spec(args, y, sx::train::Adam({.learning_rate = 0.1}));
}

sx::Input Points() {
  return sx::data::FromTensors({{"x", sx::Tensor::Of<float>({3, 1}, {0, 1, 2})},
                                {"label", sx::Tensor::Of<float>({3, 1}, {1, 3, 5})}})
      .Repeat();
}

int main() {
  auto estimator = sx::Estimator(Line, {.model_dir = "runs/line", .random_seed = 3});
  estimator.Train(Points, {.max_steps = 400});

  sx::data::Element prediction;
  auto predictions = estimator.Predict([] {
    return sx::data::FromTensors({{"x", sx::Tensor::Of<float>({2, 1}, {3, 4})}});
  });
  while (predictions.Next(&prediction)) {
    fmt::print("{:.1f}\n", prediction["predictions"].AsDouble());
  }

  auto receiver = sx::RawReceiver({{"x", sx::DType::kFloat, {-1, 1}}});
  const std::string path = estimator.ExportSavedModel("export/line", receiver);
  auto model = sx::SavedModel::Load(path);
  auto outputs = model.signature("predict").Run({{"x", sx::Tensor::Of<float>({1, 1}, {10})}});
  fmt::print("{:.1f}\n", outputs.at("predictions").AsDouble());
}

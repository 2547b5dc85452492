// Chapter 7: one model on several devices.
#include <fmt/core.h>

#include <cmath>

#include "sextant/sextant.h"

namespace sx = sextant;

sx::EstimatorSpec Line(const sx::ModelFnArgs& args) {
  auto y = sx::layers::Dense(args.features["x"], {.units = 1});
  return sx::heads::Regression().Spec(args, y, sx::train::Adam({.learning_rate = 0.05}));
}

sx::data::Dataset Points() {
  return sx::data::FromTensorSlices({{"x", sx::Tensor::Of<float>({4, 1}, {0, 1, 2, 3})},
                                     {"label", sx::Tensor::Of<float>({4, 1}, {1, 3, 5, 7})}})
      .Repeat();
}

float Slope(int devices) {
  sx::RunConfig config{.model_dir = fmt::format("runs/{}_devices", devices), .random_seed = 5};
  config.session.host_devices = devices;
  if (devices > 1) config.train_distribute = sx::MirroredStrategy{.reduction = "tree"};
  auto estimator = sx::Estimator(Line, config);
  estimator.Train([=] { return Points().Batch(4 / devices); }, {.max_steps = 50});
  return estimator.VariableValue("dense/kernel").scalar<float>();
}

int main() {
  sx::Graph graph;
  sx::GraphScope use(graph);
  sx::Output sum;
  {
    sx::DeviceScope on("/cpu:1");
    sum = sx::Const(sx::Tensor(1.0f)) + 2.0;
  }
  sx::Session session(graph, {.host_devices = 2});
  fmt::print("on {}: {}\n", sum.node()->device(), session.Run(sum).AsDouble());

  fmt::print("one device and two agree: {}\n", std::abs(Slope(1) - Slope(2)) < 1e-5);
}

// Chapter 13: one graph with a tower for each device.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

constexpr int kTowers = 2;

// Layers of a small model, in whatever scopes are open.
sx::Output Model(sx::Output x) {
  x = sx::layers::Dense(x, {.units = 64, .activation = sx::Tanh});
  return sx::layers::Dense(x, {.units = 1});
}

sx::DeviceFunction DevicesOf(int tower, bool spread) {
  sx::train::LocalDeviceOptions options{.worker_device = fmt::format("/cpu:{}", tower)};
  if (spread) options.ps_strategy = sx::train::GreedyLoadBalancing(kTowers);
  return sx::train::LocalDeviceSetter(options);
}

std::vector<sx::train::GradientAndVariable> Average(
    const std::vector<std::vector<sx::train::GradientAndVariable>>& towers) {
  auto averages = towers[0];
  for (size_t i = 0; i < averages.size(); ++i) {
    const sx::DeviceScope beside(averages[i].variable.handle().node()->device());
    std::vector<sx::Output> gradients;
    for (const auto& tower : towers) gradients.push_back(tower[i].gradient);
    averages[i].gradient = sx::AddN(gradients) * (1.0 / kTowers);
  }
  return averages;
}

// The loss on all rows after 20 steps.
float Train(bool spread, bool show) {
  sx::Graph graph;
  graph.set_seed(1);
  const sx::GraphScope use(graph);
  const sx::Output x = sx::Const(sx::Tensor::Of<float>({4, 1}, {0, 1, 2, 3}), "x");
  const sx::Output y = sx::Const(sx::Tensor::Of<float>({4, 1}, {1, 3, 5, 7}), "y");

  const sx::train::Optimizer optimizer = sx::train::GradientDescent({.learning_rate = 0.01});
  std::vector<std::vector<sx::train::GradientAndVariable>> gradients;
  std::vector<sx::Output> losses;
  for (int i = 0; i < kTowers; ++i) {
    const sx::NameScope scope(fmt::format("tower_{}", i));
    const sx::VariableScope shared("model", i == 0 ? sx::Reuse::kFalse : sx::Reuse::kTrue);
    const sx::DeviceScope devices(DevicesOf(i, spread));
    const auto rows = {sx::SliceRange(i, std::nullopt, kTowers)};  // row i goes to tower i mod N
    const sx::Output error = Model(sx::StridedSlice(x, rows)) - sx::StridedSlice(y, rows);
    losses.push_back(sx::ReduceMean(sx::Square(error)));
    gradients.push_back(optimizer.ComputeGradients(losses.back()));
  }
  const sx::Operation train = optimizer.ApplyGradients(Average(gradients));

  const sx::Operation init = sx::GlobalVariablesInitializer();
  sx::Session session(graph, {.host_devices = kTowers});
  session.Run(init);
  for (int step = 0; step < 20; ++step) session.Run(train);

  if (show) {
    fmt::print("{}:\n", spread ? "variables spread by bytes" : "variables on the first device");
    for (const sx::Variable& variable : sx::CollectedVariables()) {
      fmt::print("  {} {}\n", variable.name(), variable.handle().node()->device());
    }
    for (const sx::Output& loss : losses) {
      fmt::print("  {} {}\n", loss.node()->name(), loss.node()->device());
    }
  }
  return session.Run(sx::AddN(losses) / kTowers).scalar<float>();
}

int main() {
  const float one = Train(false, true), spread = Train(true, true);
  fmt::print("both ways learn the same: {}\n", one == spread);
}

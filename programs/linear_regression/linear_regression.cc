// Fits y = w x to 101 noisy points by gradient descent and prints the cost before each of the 30
// steps.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

namespace {

void Fit(int64_t steps, int64_t seed) {
  sx::Graph graph;
  graph.set_seed(seed);
  sx::GraphScope use(graph);

  // The data: 101 points on the line y = 2x, with noise.
  const sx::Output points = sx::LinSpace(sx::Const(sx::Tensor(-1.0f)), sx::Const(sx::Tensor(1.0f)),
                                         sx::Const(sx::Tensor(101)));
  const sx::Output noisy = 2.0 * points + sx::RandomNormal({101}, {.stddev = 0.3});

  // The model.
  const sx::Output x = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1}, "x");
  const sx::Output y = sx::Placeholder(sx::DType::kFloat, sx::PartialShape{-1}, "y");
  const sx::Variable w("w", sx::RandomNormal(sx::Shape{}));
  const sx::Output cost = sx::Mean(sx::Square(w * x - y), {0});
  const auto gradients = sx::Gradients(cost, {w.handle()});
  const sx::Operation train =
      sx::ResourceApplyGradientDescent(w.handle(), sx::Const(sx::Tensor(0.1f)), gradients[0]);
  const sx::Operation init = sx::GlobalVariablesInitializer();

  sx::Session session(graph);
  session.Run(init);
  const auto data = session.Run({points, noisy});
  const sx::FeedMap feeds = {{x, data[0]}, {y, data[1]}};
  for (int step = 0; step < steps; ++step) {
    const auto results = session.Run(feeds, std::vector<sx::Output>{cost}, {train});
    fmt::print("step {:2}  cost {:.6f}\n", step, results[0].scalar<float>());
  }
  fmt::print("w = {:.4f}\n", session.Run(w.value()).scalar<float>());
}

}  // namespace

int main(int argc, char** argv) {
  int64_t steps = 30, seed = 1;
  sx::Flags flags("Fits a line to noisy points by gradient descent.");
  flags.Add("steps", &steps, "number of updates", {.min = 0});
  flags.Add("seed", &seed, "of the noise and of the first weight");
  return flags.Main(argc, argv, [&] { Fit(steps, seed); });
}

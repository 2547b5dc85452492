// Chapter 1: a graph, a session, a gradient.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

int main() {
  sx::Graph graph;
  sx::GraphScope use(graph);  // builders build here

  auto x = sx::Placeholder(sx::DType::kFloat, {-1, 2}, "x");
  sx::Variable w("w", sx::Tensor::Of<float>({2, 1}, {1, -1}));
  auto y = sx::MatMul(x, w) + 0.5;
  auto loss = sx::Mean(sx::Square(y - 2.0), {0, 1});
  auto step = sx::train::GradientDescent({.learning_rate = 0.05}).Minimize(loss);
  auto init = sx::GlobalVariablesInitializer();

  sx::Session session(graph);
  session.Run(init);
  sx::FeedMap feeds = {{x, sx::Tensor::Of<float>({2, 2}, {1, 2, 3, 4})}};
  fmt::print("y = {}\n", session.Run(feeds, y).ToString());
  fmt::print("loss = {:.4f}\n", session.Run(feeds, loss).AsDouble());
  for (int i = 0; i < 200; ++i) session.Run(feeds, step);
  fmt::print("loss after 200 steps = {:.4f}\n", session.Run(feeds, loss).AsDouble());
  fmt::print("w is {} and has shape {}\n", w.name(), w.shape().ToString());
}

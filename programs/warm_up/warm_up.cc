// Two constants, a product, a session: the smallest program there is.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

int main() {
  sx::Graph graph;
  sx::GraphScope use(graph);
  const sx::Output row = sx::Const(sx::Tensor::Of<float>({1, 2}, {3, 3}));
  const sx::Output column = sx::Const(sx::Tensor::Of<float>({2, 1}, {6, 6}));
  const sx::Output product = sx::MatMul(row, column);

  sx::Session session(graph);
  fmt::print("{}\n", session.Run(product).ToString());
}

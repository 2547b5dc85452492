#include <sextant/sextant.h>

#include <cstdio>
namespace sx = sextant;

int main() {
  sx::Graph graph;
  sx::GraphScope use(graph);
  auto y = sx::MatMul(sx::Const(sx::Tensor::Of<float>({1, 2}, {3, 3})),
                      sx::Const(sx::Tensor::Of<float>({2, 1}, {6, 6})));
  std::puts(sx::Session(graph).Run(y).ToString().c_str());
}

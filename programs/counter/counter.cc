// A variable that is incremented three times.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

int main() {
  sx::Graph graph;
  sx::GraphScope use(graph);
  const sx::Variable counter("counter", sx::Tensor(0));
  const sx::Output increment = counter.AssignAdd(sx::Const(sx::Tensor(1)));
  const sx::Operation init = sx::GlobalVariablesInitializer();

  sx::Session session(graph);
  sx::SessionScope here(session);
  init.Run();
  fmt::print("{}\n", counter.value().Eval().ToString());
  for (int i = 0; i < 3; ++i) fmt::print("{}\n", increment.Eval().ToString());
}

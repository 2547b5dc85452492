// A variable that keeps its value from run to run.
#include <fmt/core.h>

#include "sextant/sextant.h"

namespace sx = sextant;

int main(int argc, char** argv) {
  int64_t increments = 3;
  sx::Flags flags("Counts with a variable.");
  flags.Add("increments", &increments, "how often one is added", {.min = 0});
  return flags.Main(argc, argv, [&] {
    sx::Graph graph;
    sx::GraphScope use(graph);
    const sx::Variable state("counter", sx::Tensor(0));
    const sx::Output one = sx::Const(sx::Tensor(1));
    const sx::Output update = state.Assign(state + one);
    const sx::Operation init = sx::GlobalVariablesInitializer();

    sx::Session session(graph);
    session.Run(init);
    fmt::print("{}\n", session.Run(state).ToString());
    for (int64_t i = 0; i < increments; ++i) {
      session.Run(update);
      fmt::print("{}\n", session.Run(state).ToString());
    }
  });
}

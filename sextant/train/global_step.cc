#include "sextant/train/global_step.h"

#include "sextant/base/error.h"

namespace sextant::train {

Variable GetGlobalStep(const Graph& graph) {
  const std::vector<Output> found = graph.Collection(kGlobalStep);
  if (found.size() > 1) throw FailedPrecondition("the graph has {} global steps", found.size());
  return found.empty() ? Variable() : Variable::FromHandle(found[0]);
}

Variable GetOrCreateGlobalStep() {
  Graph* graph = &CurrentGraph();
  while (graph->outer() != nullptr) graph = graph->outer();
  if (const Variable step = GetGlobalStep(*graph)) return step;
  const NameScope root("");
  return Variable(kGlobalStep, Tensor(int64_t{0}),
                  {.trainable = false, .collections = {kGlobalVariables, kGlobalStep}});
}

}  // namespace sextant::train

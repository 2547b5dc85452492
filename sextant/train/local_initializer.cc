#include "sextant/train/local_initializer.h"

#include <vector>

#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/state/variable.h"

namespace sextant::train {

Operation LocalInitializer(Graph& graph) {
  const GraphScope use(graph);
  std::vector<Operation> operations;
  for (const Variable& variable : CollectedVariables(kLocalVariables)) {
    operations.push_back(variable.initializer());
  }
  for (const Output& table : graph.Collection("table_initializer")) operations.push_back(table);
  return Group(operations, "local_init");
}

}  // namespace sextant::train

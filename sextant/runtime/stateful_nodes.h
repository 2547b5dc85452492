// What is stateful runs if it leads to what is fetched, also where no value of it is needed: reads
// fail for variables that are not initialised, queues give up elements, variables change. A stage
// that finds how to do without a value lets the sink wait for what is stateful above it.
#pragma once

#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// The stateful nodes that lead to the sink, without those that only name a resource.
std::vector<Node*> StatefulNodesOf(const Graph& graph, const Node* sink);

// Those of the nodes that do not lead to the sink any more become control inputs of it.
void AwaitNodes(Graph& graph, Node* sink, const std::vector<Node*>& nodes);

}  // namespace sextant

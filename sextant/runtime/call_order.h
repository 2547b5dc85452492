// The order of a graph's nodes in which calls of other tasks overlap with work here.
#pragma once

#include <utility>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Renumbers the nodes: each after what it depends on, "_CallStart" and what leads to one as early,
// "_CallFinish" as late as that allows, the rest as before. "effects" are pairs of nodes that must
// stay in that order though no edge says so. Throws INTERNAL, naming the nodes, where there is no
// such order.
void OrderForCalls(Graph& graph, const std::vector<std::pair<Node*, Node*>>& effects);

}  // namespace sextant

// Which nodes must keep their order though no edge says so, because both use a variable, table or
// queue and one of them changes it. The two ends of a queue keep none: what takes from it may wait
// for what puts into it, whichever was written first.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Whether the node makes its resource known under a name, as often as it is run.
bool IsSharedHandle(const Node& node);
// The node that makes the resource behind a handle.
const Node& HandleRoot(Output handle);
// What nodes of one task share state by.
std::string ResourceKey(Output handle);

// By node id: earlier nodes that must have run before it. "order" is the graph's TopologicalOrder,
// "task" gives the number of the task that each node runs on, by id: nodes of different tasks share
// nothing.
std::vector<std::vector<Node*>> NodesBefore(const std::vector<Node*>& order,
                                            const std::vector<int>& task);

// The same of a graph of one task, as pairs.
std::vector<std::pair<Node*, Node*>> EffectOrder(const std::vector<Node*>& order);

}  // namespace sextant

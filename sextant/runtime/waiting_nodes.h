// Which nodes of other tasks may wait for others of the same Run, as a dequeue waits for an
// enqueue. blocking_order.h is the same for the steps of one task.
#pragma once

#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Whether the node may wait for what another does (KernelDef::MayBlock).
bool MayWait(const Node& node);

// By node id, a class: nodes of one class come behind the same nodes that may wait, themselves
// included, so that none keeps another of its class waiting. 0 where nothing waits. Only nodes of
// other tasks than task 0 count that something else in the run could release. "copied", "task" and
// "effects" as for FindUpdateNodes; where the order of effects would let a node wait for more than
// its inputs do, it is dropped, as steps of one task do not keep it either.
std::vector<int> WaitClasses(const std::vector<Node*>& order, const std::vector<bool>& copied,
                             const std::vector<int>& task,
                             std::vector<std::vector<Node*>>& effects);

}  // namespace sextant

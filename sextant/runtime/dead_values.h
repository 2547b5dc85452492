// Values that a Switch may leave out, in graphs that run on several tasks: they do not go from one
// call of a task to another.
#pragma once

#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// By node id: whether what the node gives may be without a value. "order" is the graph's
// TopologicalOrder; its loops are While nodes.
std::vector<bool> MayBeDead(const std::vector<Node*>& order);

// Calls f(from, to) for each edge, of data and control, along which there may be no value.
template <typename F>
void ForEachDeadEdge(const std::vector<Node*>& order, const std::vector<bool>& may_be_dead, F&& f) {
  const auto visit = [&](const Node* from, const Node* to) {
    if (may_be_dead[static_cast<size_t>(from->id())]) f(from, to);
  };
  for (const Node* node : order) {
    for (const Output& input : node->inputs()) visit(input.node(), node);
    for (const Node* control : node->control_inputs()) visit(control, node);
  }
}

inline constexpr int kNoConditional = -1;

// By node id: the number of the v1 conditional that the node belongs to, or kNoConditional. Nodes
// belong together that such edges connect, where both are of one task and not of task 0, the
// session's own. Empty where there is none. "task" is by node id.
std::vector<int> ConditionalsOfTasks(const std::vector<Node*>& order, const std::vector<int>& task);

}  // namespace sextant

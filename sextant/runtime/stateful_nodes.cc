#include "sextant/runtime/stateful_nodes.h"

namespace sextant {
namespace {

// By id: whether a node leads to the sink.
std::vector<bool> LeadTo(const Graph& graph, const Node* sink) {
  std::vector<bool> seen(static_cast<size_t>(graph.num_nodes()));
  std::vector<const Node*> stack;
  const auto push = [&](const Node* node) {
    if (!seen[static_cast<size_t>(node->id())]) stack.push_back(node);
    seen[static_cast<size_t>(node->id())] = true;
  };
  push(sink);
  while (!stack.empty()) {
    const Node* node = stack.back();
    stack.pop_back();
    for (const Output& input : node->inputs()) push(input.node());
    for (const Node* control : node->control_inputs()) push(control);
  }
  return seen;
}

bool Acts(const Node& node) {
  return node.op().stateful() && (node.num_inputs() > 0 || node.type() == "_CallFinish");
}

}  // namespace

std::vector<Node*> StatefulNodesOf(const Graph& graph, const Node* sink) {
  const std::vector<bool> leads = LeadTo(graph, sink);
  std::vector<Node*> nodes;
  for (int id = 0; id < graph.num_nodes(); ++id) {
    if (leads[static_cast<size_t>(id)] && Acts(*graph.node(id))) nodes.push_back(graph.node(id));
  }
  return nodes;
}

void AwaitNodes(Graph& graph, Node* sink, const std::vector<Node*>& nodes) {
  const std::vector<bool> leads = LeadTo(graph, sink);
  std::vector<Node*> controls;
  for (Node* node : nodes) {
    if (!leads[static_cast<size_t>(node->id())]) controls.push_back(node);
  }
  if (controls.empty()) return;
  controls.insert(controls.end(), sink->control_inputs().begin(), sink->control_inputs().end());
  graph.SetControlInputs(sink, std::move(controls));
}

}  // namespace sextant

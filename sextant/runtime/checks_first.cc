#include "sextant/runtime/checks_first.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sextant/graph/passes/copy_subgraph.h"

namespace sextant {
namespace {

bool IsCheck(const Node& node) {
  const std::string& type = node.type();
  return type == "Assert" || type == "CheckNumerics" || type == "CheckNumericsV2";
}

// By node id: whether it depends on constants and feeds alone, not on effects or input.
std::vector<bool> NodesOfValues(const Graph& graph) {
  std::vector<bool> of_values(static_cast<size_t>(graph.num_nodes()), true);
  for (const Node* node : TopologicalOrder(graph)) {
    const auto is_value = [&](const Node* n) {
      return of_values[static_cast<size_t>(n->id())] && !n->op().stateful() && !MayAwaitInput(*n);
    };
    of_values[static_cast<size_t>(node->id())] =
        std::ranges::all_of(node->inputs(), [&](Output input) { return is_value(input.node()); }) &&
        std::ranges::all_of(node->control_inputs(), is_value);
  }
  return of_values;
}

}  // namespace

bool MayAwaitInput(const Node& node) {
  return node.type().starts_with("IteratorGetNext") || node.type() == "ReadFile";
}

void PutChecksFirst(Graph& graph) {
  std::vector<Node*> waiting, checks;
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* const node = graph.node(id);
    if (node->type() == "Switch" || node->type() == "RefSwitch") return;
    if (MayAwaitInput(*node)) waiting.push_back(node);
    if (IsCheck(*node)) checks.push_back(node);
  }
  if (waiting.empty() || checks.empty()) return;
  const std::vector<bool> of_values = NodesOfValues(graph);
  std::erase_if(checks, [&](const Node* c) { return !of_values[static_cast<size_t>(c->id())]; });
  for (Node* const node : waiting) {
    std::vector<Node*> before(node->control_inputs().begin(), node->control_inputs().end());
    before.insert(before.end(), checks.begin(), checks.end());
    graph.SetControlInputs(node, std::move(before));
  }
}

}  // namespace sextant

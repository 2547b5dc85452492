// Effects keep their order: what reads a variable stays behind what changed it before, and with
// that behind the input, where the change waits for it. Updates stay behind the input even if they
// do not depend on it, so that a Run that finds the input at its end changes nothing. What puts
// into a queue may itself wait, perhaps for a step behind the input: it comes first in the list,
// but nothing depends on it.
#include "sextant/runtime/checks_first.h"

#include <algorithm>
#include <string>
#include <vector>

#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/effect_order.h"
#include "sextant/runtime/passes/variable_touches.h"
#include "sextant/runtime/waiting_nodes.h"

namespace sextant {
namespace {

bool IsCheck(const Node& node) {
  const std::string& type = node.type();
  return type == "Assert" || type == "CheckNumerics" || type == "CheckNumericsV2";
}

class EarlyNodes {
 public:
  explicit EarlyNodes(const Graph& graph)
      : order_(TopologicalOrder(graph)),
        before_(NodesBefore(order_, std::vector<int>(order_.size()))),
        early_(order_.size()),
        waits_(order_.size()),
        needed_(order_.size()) {
    for (Node* node : order_) Visit(node);
    for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
      const size_t id = IdOf(*node);
      if (early_[id] && WantsToPrecedeInput(**node)) needed_[id] = true;
      if (!needed_[id]) continue;
      for (const Node* earlier : before_[id]) needed_[IdOf(earlier)] = true;
    }
  }

  // That never wait for a queue.
  std::vector<Node*> Checks() const {
    std::vector<Node*> checks;
    std::ranges::copy_if(order_, std::back_inserter(checks), [&](const Node* node) {
      return IsCheck(*node) && early_[IdOf(node)] && !waits_[IdOf(node)];
    });
    return checks;
  }

  std::vector<Node*> Order() const {
    std::vector<Node*> order = order_;
    std::stable_partition(order.begin(), order.end(),
                          [&](const Node* node) { return needed_[IdOf(node)]; });
    return order;
  }

 private:
  static size_t IdOf(const Node* node) { return static_cast<size_t>(node->id()); }

  void Visit(const Node* node) {
    const size_t id = IdOf(node);
    std::vector<Node*>& before = before_[id];
    for (const Output& input : node->inputs()) before.push_back(input.node());
    before.insert(before.end(), node->control_inputs().begin(), node->control_inputs().end());
    const bool wants = WantsToPrecedeInput(*node);
    early_[id] = (wants || MayPrecedeInput(*node)) &&
                 std::ranges::all_of(before, [&](const Node* n) { return early_[IdOf(n)]; });
    waits_[id] = (wants && !IsCheck(*node)) ||
                 std::ranges::any_of(before, [&](const Node* n) { return waits_[IdOf(n)]; });
  }

  const std::vector<Node*> order_;
  std::vector<std::vector<Node*>> before_;  // by id, as all below
  std::vector<bool> early_;                 // nothing keeps it behind the input
  std::vector<bool> waits_;                 // for room in a queue, perhaps
  std::vector<bool> needed_;                // by one that wants to precede input
};

}  // namespace

bool MayAwaitInput(const Node& node) {
  return node.type().starts_with("IteratorGetNext") || node.type() == "ReadFile";
}

bool WantsToPrecedeInput(const Node& node) {
  return IsCheck(node) || (node.num_outputs() == 0 && MayWait(node));
}

bool MayPrecedeInput(const Node& node) {
  if (MayAwaitInput(node)) return false;
  return !node.op().stateful() || IsSharedHandle(node) || OnlyReadsVariable(node);
}

void PutChecksFirst(Graph& graph) {
  std::vector<Node*> waiting;
  bool any = false;
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* const node = graph.node(id);
    if (node->type() == "Switch" || node->type() == "RefSwitch") return;
    if (MayAwaitInput(*node)) waiting.push_back(node);
    any = any || WantsToPrecedeInput(*node);
  }
  if (waiting.empty() || !any) return;
  const EarlyNodes early(graph);
  const std::vector<Node*> checks = early.Checks();
  ReorderNodes(graph, early.Order());
  for (Node* const node : waiting) {
    std::vector<Node*> before(node->control_inputs().begin(), node->control_inputs().end());
    before.insert(before.end(), checks.begin(), checks.end());
    graph.SetControlInputs(node, std::move(before));
  }
}

}  // namespace sextant

#include "sextant/runtime/call_order.h"

#include <queue>

#include "sextant/graph/passes/copy_subgraph.h"

namespace sextant {
namespace {

enum class Urgency : int { kStart, kLeadsToStart, kOther, kFinish };

// "pending" are the edges into each node that were not gone along.
[[noreturn]] void ThrowWithoutOrder(const Graph& graph, const std::vector<size_t>& pending) {
  std::string left;
  for (int id = 0; id < graph.num_nodes(); ++id) {
    if (pending[static_cast<size_t>(id)] == 0) continue;
    const Node& node = *graph.node(id);
    left += fmt::format("{}[{} {}]", left.empty() ? "" : ", ", node.type(), node.name());
  }
  throw Internal("these nodes wait for each other: {}", left);
}

}  // namespace

void OrderForCalls(Graph& graph, const std::vector<std::pair<Node*, Node*>>& effects) {
  const auto count = static_cast<size_t>(graph.num_nodes());
  std::vector<std::vector<int>> next(count), before(count);
  const auto add_edge = [&](const Node* from, const Node* to) {
    next[static_cast<size_t>(from->id())].push_back(to->id());
    before[static_cast<size_t>(to->id())].push_back(from->id());
  };
  for (size_t id = 0; id < count; ++id) {
    const Node* node = graph.node(static_cast<int>(id));
    for (const Output& input : node->inputs()) add_edge(input.node(), node);
    for (const Node* control : node->control_inputs()) add_edge(control, node);
  }
  for (const auto& [earlier, later] : effects) add_edge(earlier, later);

  std::vector<Urgency> urgency(count, Urgency::kOther);
  std::vector<int> stack;
  for (size_t id = 0; id < count; ++id) {
    if (graph.node(static_cast<int>(id))->type() != "_CallStart") continue;
    urgency[id] = Urgency::kStart;
    stack.push_back(static_cast<int>(id));
  }
  while (!stack.empty()) {
    const auto id = static_cast<size_t>(stack.back());
    stack.pop_back();
    for (const int on : before[id]) {
      if (urgency[static_cast<size_t>(on)] != Urgency::kOther) continue;
      urgency[static_cast<size_t>(on)] = Urgency::kLeadsToStart;
      stack.push_back(on);
    }
  }
  for (size_t id = 0; id < count; ++id) {
    if (graph.node(static_cast<int>(id))->type() == "_CallFinish") urgency[id] = Urgency::kFinish;
  }

  using Ready = std::pair<int, int>;  // urgency, id
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<size_t> pending(count);
  for (size_t id = 0; id < count; ++id) {
    pending[id] = before[id].size();
    if (pending[id] == 0) ready.emplace(static_cast<int>(urgency[id]), static_cast<int>(id));
  }
  std::vector<Node*> order;
  order.reserve(count);
  while (!ready.empty()) {
    const int id = ready.top().second;
    ready.pop();
    order.push_back(graph.node(id));
    for (const int to : next[static_cast<size_t>(id)]) {
      if (--pending[static_cast<size_t>(to)] == 0)
        ready.emplace(static_cast<int>(urgency[static_cast<size_t>(to)]), to);
    }
  }
  if (order.size() != count) ThrowWithoutOrder(graph, pending);
  ReorderNodes(graph, order);
}

}  // namespace sextant

#include "sextant/runtime/effect_order.h"

#include <algorithm>
#include <map>

#include "sextant/graph/function_node.h"
#include "sextant/runtime/passes/variable_touches.h"
#include "sextant/runtime/waiting_nodes.h"

namespace sextant {

bool IsSharedHandle(const Node& node) {
  return node.num_outputs() == 1 && node.output_type(0) == DType::kResource &&
         node.num_inputs() == 0 && node.control_inputs().empty() &&
         node.FindAttr("shared_name") != nullptr;
}

const Node& HandleRoot(Output handle) {
  const Node* node = handle.node();
  while (node->type() == "Identity") node = node->input(0).node();
  return *node;
}

namespace {

bool HandsOn(const Node& node) { return node.type() == "Identity" || node.type() == "Switch"; }

// The node that makes the resource, also where the handle has gone through conditionals and loops.
// Of a handle that may come from several: the node that chooses.
const Node& MakerOf(Output handle) {
  for (;;) {
    const Node& node = *handle.node();
    if (HandsOn(node)) {
      handle = node.input(0);
    } else if (node.type().ends_with("While")) {
      handle = node.input(handle.index());
    } else {
      return node;
    }
  }
}

bool IsChosen(Output handle) {
  return handle.dtype() == DType::kResource &&
         (MakerOf(handle).type() == "Merge" || RunsFunctions(MakerOf(handle)));
}

}  // namespace

std::string ResourceKey(Output handle) {
  const Node& root = MakerOf(handle);
  if (!IsSharedHandle(root)) return fmt::format("#{}", root.id());
  const auto& shared = root.attr<std::string>("shared_name");
  const Attr* container = root.FindAttr("container");
  return fmt::format("{}/{}", container ? container->Get<std::string>() : "",
                     shared.empty() ? root.name() : shared);
}

namespace {

// What may wait for a queue and gives values takes from it. All else, as its size, keeps its order
// with what puts into it.
enum class End { kPuts, kTakes };
End EndOf(const Node& node, Output handle) {
  const bool queue = MakerOf(handle).type().find("Queue") != std::string::npos;
  return queue && node.num_outputs() > 0 && MayWait(node) ? End::kTakes : End::kPuts;
}

// Per resource: a change waits for the last change and the reads since, a read for the last change.
// What calls functions may touch all resources of its task, as what takes a handle of one of
// several.
class EffectEdges {
 public:
  explicit EffectEdges(size_t num_nodes) : edges_(num_nodes) {}

  void Add(Node* node, int task) {
    if (HandsOn(*node) || node->type() == "Merge") return;
    Task& state = tasks_[task];
    if ((node->op().stateful() && RunsFunctions(*node)) ||
        std::ranges::any_of(node->inputs(), IsChosen)) {
      for (auto& [key, users] : state.users) Wait(node, users, /*changes=*/true);
      Wait(node, state.anything, true);
      return;
    }
    for (const Output& input : node->inputs()) {
      if (input.dtype() != DType::kResource) continue;
      const bool changes = !OnlyReadsVariable(*node);
      Wait(node, state.users[{ResourceKey(input), EndOf(*node, input)}], changes);
      WaitFor(node, state.anything.changed);
    }
  }
  std::vector<std::vector<Node*>> Take() { return std::move(edges_); }

 private:
  struct Users {
    Node* changed = nullptr;
    std::vector<Node*> readers;  // since then
  };

  void WaitFor(Node* node, Node* other) {
    if (other != nullptr && other != node) edges_[static_cast<size_t>(node->id())].push_back(other);
  }
  void Wait(Node* node, Users& users, bool changes) {
    WaitFor(node, users.changed);
    if (!changes) {
      users.readers.push_back(node);
      return;
    }
    for (Node* reader : users.readers) WaitFor(node, reader);
    users = {node, {}};
  }

  struct Task {
    std::map<std::pair<std::string, End>, Users> users;  // by resource; of queues, by end
    Users anything;
  };

  std::vector<std::vector<Node*>> edges_;
  std::map<int, Task> tasks_;
};

}  // namespace

std::vector<std::vector<Node*>> NodesBefore(const std::vector<Node*>& order,
                                            const std::vector<int>& task) {
  EffectEdges effects(order.size());
  for (Node* node : order) effects.Add(node, task[static_cast<size_t>(node->id())]);
  return effects.Take();
}

std::vector<std::pair<Node*, Node*>> EffectOrder(const std::vector<Node*>& order) {
  const auto before = NodesBefore(order, std::vector<int>(order.size()));
  std::vector<std::pair<Node*, Node*>> pairs;
  for (Node* node : order) {
    for (Node* earlier : before[static_cast<size_t>(node->id())]) pairs.emplace_back(earlier, node);
  }
  return pairs;
}

}  // namespace sextant

// TensorFlow 1 puts a Switch beside the tensor that it switches, so that conditionals begin on many
// tasks. Example, w on ps 0:
//
//   ps 0   Read w ─> Switch ─┐                            Read w ────────┐
//   here                     └─> Neg, Square ─> Merge     here: Switch <─┘ ─> Neg, Square ─> Merge
//
// The nodes that a Switch may leave dead, with the Switches and Merges around them, are one
// conditional if edges between them connect them. Its nodes that only compute can be on any task. A
// read of a variable inside becomes an Identity of a read before the conditional:
//
//   Read(Switch(w, p))   becomes   Identity(Switch(Read(w), p))
//
#include "sextant/runtime/conditional_tasks.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sextant/base/error.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/dead_values.h"
#include "sextant/runtime/fragment_groups.h"

namespace sextant {
namespace {

size_t IdOf(const Node* node) { return static_cast<size_t>(node->id()); }

bool IsHandle(Output value) { return value.dtype() == DType::kResource; }

// Whether it takes or gives no handle.
bool OnlyTensors(const Node& node) {
  if (std::ranges::any_of(node.inputs(), IsHandle)) return false;
  return node.num_outputs() == 0 || node.output_type(0) != DType::kResource;
}

// The variable behind a handle that may have gone through Switches; null of other resources.
Node* VariableOf(Output handle) {
  Node* node = handle.node();
  while (node->type() == "Identity" || node->type() == "Switch") node = node->input(0).node();
  return node->type() == "VarHandleOp" ? node : nullptr;
}

class ConditionalGatherer {
 public:
  ConditionalGatherer(Graph& graph, std::string_view own_task, const Node* sink)
      : graph_(graph),
        own_task_(own_task),
        sink_(sink),
        nodes_(TopologicalOrder(graph)),
        may_be_dead_(MayBeDead(nodes_)),
        parent_(nodes_.size()) {
    std::iota(parent_.begin(), parent_.end(), size_t{0});
  }

  // Whether the graph has changed.
  bool Gather() {
    FindConditionals();
    std::map<size_t, std::vector<Node*>> conditionals;
    for (Node* node : nodes_) {
      if (may_be_dead_[IdOf(node)] || node->type() == "Merge")
        conditionals[Find(IdOf(node))].push_back(node);
    }
    for (const auto& [root, members] : conditionals) Move(members);
    if (before_.empty()) return changed_;
    std::vector<Node*> order;
    for (Node* node : nodes_) {
      if (const auto found = before_.find(node); found != before_.end())
        order.insert(order.end(), found->second.begin(), found->second.end());
      order.push_back(node);
    }
    ReorderNodes(graph_, order);
    return true;
  }

 private:
  std::string TaskOf(const Node* node) const {
    return node->device().empty() ? own_task_ : TaskOfDevice(node->device());
  }
  size_t Find(size_t id) {
    while (parent_[id] != id) id = parent_[id] = parent_[parent_[id]];
    return id;
  }

  void FindConditionals() {
    ForEachDeadEdge(nodes_, may_be_dead_, [this](const Node* from, const Node* to) {
      parent_[Find(IdOf(from))] = Find(IdOf(to));
    });
  }

  // Handles go where their readers are.
  static bool CarriesHandle(const Node& node) {
    return (node.type() == "Switch" || node.type() == "Identity") && IsHandle(node.input(0));
  }
  bool Computes(const Node& node) const {
    return &node != sink_ && !node.op().stateful() && OnlyTensors(node);
  }
  static bool Reads(const Node& node) {
    return node.type() == "ReadVariableOp" && VariableOf(node.input(0)) != nullptr;
  }

  void Move(const std::vector<Node*>& members) {
    const Node* place = nullptr;  // the first that cannot be moved, else one of this task
    for (const Node* node : members) {
      if (Computes(*node) || Reads(*node) || CarriesHandle(*node)) continue;
      if (place != nullptr && TaskOf(place) != TaskOf(node)) return;
      if (place == nullptr) place = node;
    }
    for (const Node* node : members) {
      if (place == nullptr && TaskOf(node) == own_task_) place = node;
    }
    if (place == nullptr) place = members.back();
    const std::string task = TaskOf(place), device = place->device();
    for (Node* node : members) {
      if (TaskOf(node) == task) continue;
      if (Computes(*node)) {
        graph_.SetDevice(node, device);
        changed_ = true;
      } else if (Reads(*node)) {
        ReadBefore(node, device);
      }
    }
  }

  void ReadBefore(Node* node, const std::string& device) {
    Node* variable = VariableOf(node->input(0));
    std::vector<Node*> always;
    for (Node* control : node->control_inputs()) {
      if (!may_be_dead_[IdOf(control)]) always.push_back(control);
    }
    const auto dtype = node->attr<DType>("dtype");
    Node* read = graph_.AddNode({.name = graph_.UniqueName(node->name() + "/_before"),
                                 .op = &node->op(),
                                 .inputs = {variable->output(0)},
                                 .control_inputs = std::move(always),
                                 .attrs = node->attrs(),
                                 .device = variable->device()});
    before_[node].push_back(read);
    const Output value = Switched(node->input(0), read->output(0), dtype, node, device);
    const auto controls = node->control_inputs();
    graph_.Replace(node, {.name = node->name(),
                          .op = graph_.FindOp("Identity"),
                          .inputs = {value},
                          .control_inputs = {controls.begin(), controls.end()},
                          .attrs = {{"T", dtype}},
                          .device = device});
    graph_.SetDevice(node, device);
  }

  // The value by the way that the handle takes.
  Output Switched(Output handle, Output value, DType dtype, Node* reader,
                  const std::string& device) {
    const Node& node = *handle.node();
    if (node.type() == "VarHandleOp") return value;
    std::vector<Output> inputs = {Switched(node.input(0), value, dtype, reader, device)};
    if (node.type() == "Switch") inputs.push_back(node.input(1));
    const auto controls = node.control_inputs();
    Node* copy = graph_.AddNode({.name = graph_.UniqueName(node.name() + "/_value"),
                                 .op = &node.op(),
                                 .inputs = std::move(inputs),
                                 .control_inputs = {controls.begin(), controls.end()},
                                 .attrs = {{"T", dtype}},
                                 .device = device});
    before_[reader].push_back(copy);
    return copy->output(handle.index());
  }

  Graph& graph_;
  const std::string own_task_;
  const Node* const sink_;
  const std::vector<Node*> nodes_;
  const std::vector<bool> may_be_dead_;         // by id
  std::vector<size_t> parent_;                  // by id: of the same conditional
  std::map<Node*, std::vector<Node*>> before_;  // new nodes, by the one that they are made for
  bool changed_ = false;
};

}  // namespace

void GatherConditionals(Graph& graph, std::string_view own_task, const std::vector<Node*>& needed) {
  bool any = false;
  for (int id = 0; id < graph.num_nodes() && !any; ++id) any = graph.node(id)->type() == "Switch";
  if (any && ConditionalGatherer(graph, own_task, needed[0]).Gather())
    RemoveUnneeded(graph, needed);
}

void CheckConditionals(const std::vector<Node*>& order, const std::vector<int>& group) {
  ForEachDeadEdge(order, MayBeDead(order), [&](const Node* from, const Node* to) {
    const int there = group[IdOf(to)];
    if (group[IdOf(from)] == there || there == FragmentGroups::kCopied) return;
    const bool on_one_task = TaskOfDevice(from->device()) == TaskOfDevice(to->device());
    throw Unimplemented(
        "[{} {}] on '{}' needs [{} {}] on '{}', which a Switch may leave without a value: {}",
        to->type(), to->name(), to->device(), from->type(), from->name(), from->device(),
        on_one_task ? "the v1 conditional is on one task, but waits in between for another task or "
                      "a queue; put what it waits for before or after it"
                    : "a v1 conditional must be on one task as a whole");
  });
}

}  // namespace sextant

#include "sextant/graph/passes/dead_branches.h"

#include <algorithm>
#include <unordered_map>

#include "sextant/graph/passes/rewriting.h"

namespace sextant {
namespace {

class BranchRemover {
 public:
  BranchRemover(Graph& graph, Deadness& deadness) : graph_(graph), deadness_(deadness) {}

  void Run() {
    const int count = graph_.num_nodes();
    for (int id = 0; id < count; ++id) {
      Node* node = graph_.node(id);
      if (deadness_.NeverLive(*node)) continue;
      DropDeadControls(node);
      if (node->type() == "Switch") BypassSwitch(node);
      if (node->type() == "Merge") BypassMerge(node);
    }
    if (outputs_.empty()) return;
    for (int id = 0; id < graph_.num_nodes(); ++id) Redirect(graph_.node(id), id < count);
  }

 private:
  // Merge, ControlTrigger and the sink wait for control inputs whether they run or not.
  void DropDeadControls(Node* node) {
    std::vector<Node*> live;
    for (Node* control : node->control_inputs()) {
      if (!deadness_.NeverLive(*control)) live.push_back(control);
    }
    if (live.size() < node->control_inputs().size()) graph_.SetControlInputs(node, std::move(live));
  }

  void BypassSwitch(Node* node) {
    const bool taken = deadness_.NeverLive(node->output(0));
    if (!taken && !deadness_.NeverLive(node->output(1))) return;
    const Output data = node->input(0);
    std::vector<Node*> after(node->control_inputs().begin(), node->control_inputs().end());
    // The predicate decides more than the side where it is dead itself in some runs.
    if (!deadness_.LiveWith(node->output(taken), {{data}}, after)) {
      after.push_back(node->input(1).node());
    }
    outputs_[node->output(taken)] = AddIdentity(*node, data, std::move(after));
    nodes_[node] = outputs_[node->output(taken)].node();
  }

  void BypassMerge(Node* node) {
    const auto may_live = [&](const Output& input) { return !deadness_.NeverLive(input); };
    if (node->num_inputs() < 2 || std::ranges::count_if(node->inputs(), may_live) != 1) return;
    const auto live = std::ranges::find_if(node->inputs(), may_live);
    std::vector<Node*> after(node->control_inputs().begin(), node->control_inputs().end());
    if (!deadness_.LiveWith(*live, {{*live}}, after)) return;
    const Output value = AddIdentity(*node, *live, std::move(after));
    outputs_[node->output(0)] = value;
    nodes_[node] = value.node();
    const Tensor index(static_cast<int32_t>(live - node->inputs().begin()));
    outputs_[node->output(1)] = graph_
                                    .AddNode({.name = FreshName(graph_, node->name() + "/_index"),
                                              .op = RequireOp(graph_, "Const"),
                                              .control_inputs = {value.node()},
                                              .attrs = {{"value", index}, {"dtype", DType::kInt32}},
                                              .device = node->device()})
                                    ->output(0);
  }

  Output AddIdentity(const Node& like, Output value, std::vector<Node*> after) {
    Node* node = graph_.AddNode({.name = FreshName(graph_, like.name() + "/_taken"),
                                 .op = RequireOp(graph_, "Identity"),
                                 .inputs = {value},
                                 .control_inputs = std::move(after),
                                 .attrs = {{"T", RemoveRef(value.dtype())}},
                                 .device = like.device()});
    node->set_output_shape(0, value.shape());
    if (const HandleShape* handle = value.node()->output_handle(value.index())) {
      node->set_output_handle(0, *handle);
    }
    return node->output(0);
  }

  void Redirect(Node* node, bool visited) {
    if (visited && deadness_.NeverLive(*node)) return;
    for (int i = 0; i < node->num_inputs(); ++i) {
      const auto moved = outputs_.find(node->input(i));
      if (moved != outputs_.end()) graph_.SetInput(node, i, moved->second);
    }
    std::vector<Node*> controls(node->control_inputs().begin(), node->control_inputs().end());
    bool changed = false;
    for (Node*& control : controls) {
      const auto moved = nodes_.find(control);
      if (moved == nodes_.end()) continue;
      control = moved->second;
      changed = true;
    }
    if (changed) graph_.SetControlInputs(node, std::move(controls));
  }

  Graph& graph_;
  Deadness& deadness_;
  std::unordered_map<Output, Output> outputs_;
  std::unordered_map<const Node*, Node*> nodes_;
};

}  // namespace

void BypassDeadBranches(Graph& graph, Deadness& deadness) { BranchRemover(graph, deadness).Run(); }

}  // namespace sextant

#include "sextant/runtime/captured_variables.h"

#include <algorithm>
#include <map>

#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/fragment_groups.h"

namespace sextant {
namespace {

std::vector<FuncAttr> FunctionsOf(const Node& node) {
  const std::string& type = node.type();
  if (type.ends_with("If"))
    return {node.attr<FuncAttr>("then_branch"), node.attr<FuncAttr>("else_branch")};
  if (type.ends_with("While")) return {node.attr<FuncAttr>("cond"), node.attr<FuncAttr>("body")};
  if (type.ends_with("Case")) return node.attr<std::vector<FuncAttr>>("branches");
  return {};
}

// The predicate of If and Case is no argument of their functions.
int FirstArgument(const Node& node) { return node.type().ends_with("While") ? 0 : 1; }

bool ReadsValue(const Node& node) {
  const std::string& type = node.type();
  return type == "ReadVariableOp" || type == "VariableShape" || type == "ResourceGather" ||
         type == "ResourceGatherNd";
}

std::string Shown(const Node& node) { return fmt::format("[{} {}]", node.type(), node.name()); }

class CapturedVariables {
 public:
  CapturedVariables(Graph& graph, const PlanEnvironment& environment)
      : graph_(graph), own_task_(TaskOfDevice(environment.devices[0]->name())) {}

  void Read() {
    std::vector<Node*> order;
    for (Node* node : TopologicalOrder(graph_)) {
      if (!FunctionsOf(*node).empty()) ReadFor(node, order);
      order.push_back(node);
    }
    if (changed_) ReorderNodes(graph_, order);
  }

 private:
  std::string TaskOf(const Node& node) const {
    return node.device().empty() ? own_task_ : TaskOfDevice(node.device());
  }

  // New nodes go to the end of "order", right before the node.
  void ReadFor(Node* node, std::vector<Node*>& order) {
    for (const FuncAttr& function : FunctionsOf(*node)) CheckMade(*node, function);
    std::map<const Node*, Output> local;  // handle → the variable that stands for it
    for (int i = FirstArgument(*node); i < node->num_inputs(); ++i) {
      const Output input = node->input(i);
      if (input.dtype() != DType::kResource) continue;
      const Node* handle = input.node();
      while (handle->type() == "Identity") handle = handle->input(0).node();
      if (handle->type() != "VarHandleOp" || TaskOf(*handle) == TaskOf(*node)) continue;
      if (const Node* change = FindChange(*node, i - FirstArgument(*node))) {
        throw Unimplemented(
            "{} on '{}' changes the variable {} of '{}' by {}: put both on one task", Shown(*node),
            TaskOf(*node), handle->name(), TaskOf(*handle), Shown(*change));
      }
      Output& stand_in = local[handle];
      if (!stand_in) stand_in = AddReading(*node, input, *handle, order);
      graph_.SetInput(node, i, stand_in);
    }
  }

  Output AddReading(const Node& node, Output input, const Node& handle, std::vector<Node*>& order) {
    const std::string name = node.name() + "/" + handle.name();
    const auto dtype = handle.attr<DType>("dtype");
    Node* read = graph_.AddNode(
        {.name = graph_.UniqueName(name + "/_read"),
         .op = graph_.FindOp("ReadVariableOp"),
         .inputs = {input},
         .control_inputs = {node.control_inputs().begin(), node.control_inputs().end()},
         .attrs = {{"dtype", dtype}},
         .device = handle.device()});
    Node* local = graph_.AddNode({.name = graph_.UniqueName(name + "/_local"),
                                  .op = graph_.FindOp("_VariableOfValue"),
                                  .inputs = {read->output(0)},
                                  .attrs = {{"dtype", dtype}},
                                  .device = node.device()});
    order.push_back(read);
    order.push_back(local);
    changed_ = true;
    return local->output(0);
  }

  std::shared_ptr<const FunctionBody> Body(const FuncAttr& function) const {
    static const AttrMap kNone;
    return graph_.functions()
        .Get(function.name)
        .Instantiate(graph_.functions(), function.attrs ? *function.attrs : kNone);
  }

  // A node of the functions, or of those they use, that does more than read argument "i"; null when
  // there is none.
  const Node* FindChange(const Node& node, int i) {
    for (const FuncAttr& function : FunctionsOf(node)) {
      const auto [known, added] = changes_.try_emplace({function.name, i}, nullptr);
      if (!added) {
        if (known->second != nullptr) return known->second;
        continue;
      }
      const auto body = Body(function);
      bodies_.push_back(body);
      const Node* change = FindChangeIn(*body, i);
      changes_[{function.name, i}] = change;
      if (change != nullptr) return change;
    }
    return nullptr;
  }

  const Node* FindChangeIn(const FunctionBody& body, int i) {
    if (static_cast<size_t>(i) >= body.args.size()) return nullptr;
    std::vector<Output> handles = {body.args[static_cast<size_t>(i)]};
    for (const Node* node : TopologicalOrder(*body.graph)) {
      for (int k = 0; k < node->num_inputs(); ++k) {
        if (std::ranges::find(handles, node->input(k)) == handles.end() || ReadsValue(*node))
          continue;
        if (node->type() == "Identity" || node->type() == "Enter" || node->type() == "Switch") {
          for (int o = 0; o < node->num_outputs(); ++o) handles.push_back(node->output(o));
        } else if (!FunctionsOf(*node).empty() && k >= FirstArgument(*node)) {
          if (const Node* change = FindChange(*node, k - FirstArgument(*node))) return change;
          // What a loop passes on is what it was given.
          if (node->type().ends_with("While")) handles.push_back(node->output(k));
        } else if (node->type() != "_Retval") {
          return node;
        }
      }
    }
    return nullptr;
  }

  // Resources that the functions make themselves are made where the node is.
  void CheckMade(const Node& node, const FuncAttr& function) {
    if (!checked_.emplace(function.name, true).second) return;
    const auto body = Body(function);
    for (int id = 0; id < body->graph->num_nodes(); ++id) {
      const Node& inner = *body->graph->node(id);
      for (const FuncAttr& deeper : FunctionsOf(inner)) CheckMade(node, deeper);
      if (inner.device().empty() || inner.num_inputs() > 0 || inner.num_outputs() == 0 ||
          inner.output_type(0) != DType::kResource)
        continue;
      const DeviceName wanted = DeviceName::Parse(inner.device());
      DeviceName task = wanted;
      task.type.clear();
      task.index.reset();
      if (DeviceName::Parse(TaskOf(node)).Matches(task)) continue;
      throw Unimplemented("{} on '{}' makes {} of '{}' inside: put both on one task", Shown(node),
                          TaskOf(node), Shown(inner), inner.device());
    }
  }

  Graph& graph_;
  const std::string own_task_;
  bool changed_ = false;
  std::map<std::pair<std::string, int>, const Node*> changes_;  // function, argument → what changes
  std::map<std::string, bool> checked_;
  std::vector<std::shared_ptr<const FunctionBody>> bodies_;  // of the nodes above
};

}  // namespace

void ReadCapturedVariables(Graph& graph, const PlanEnvironment& environment) {
  CapturedVariables(graph, environment).Read();
}

}  // namespace sextant

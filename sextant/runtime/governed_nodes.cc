#include "sextant/runtime/governed_nodes.h"

#include <algorithm>

#include "sextant/base/cancellable_wait.h"
#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/passes/deadness.h"

namespace sextant {
namespace {

const OpDef& GovernedOp() {
  static const OpDef* def = [] {
    auto* d = new OpDef("_Governed");
    d->Inputs("inputs:_inputs")
        .Outputs("outputs:_outputs")
        .Attrs("_inputs:list(type)>=0; _outputs:list(type)>=0")
        .Stateful()
        .Structural();
    return d;
  }();
  return *def;
}

bool IsConditional(const Node& node) { return node.type() == "Switch" || node.type() == "Merge"; }

NodeSpec SpecOf(const Node& node, const OpDef* op, AttrMap attrs) {
  return {.op = op,
          .inputs = {node.inputs().begin(), node.inputs().end()},
          .control_inputs = {node.control_inputs().begin(), node.control_inputs().end()},
          .attrs = std::move(attrs)};
}

}  // namespace

bool GovernedNodes::IsHidden(const Node& node) { return &node.op() == &GovernedOp(); }

void GovernedNodes::Hide() {
  bool any = false;
  for (int id = 0; id < graph_.num_nodes() && !any; ++id) any = IsConditional(*graph_.node(id));
  if (!any) return;
  Deadness deadness;
  const std::vector<Node*> order = TopologicalOrder(graph_);
  for (const Node* node : order) deadness.Visit(*node);
  for (Node* node : order) {
    CancellationScope::ThrowIfCancelled();
    const bool governed = IsConditional(*node) || !deadness.AlwaysLive(*node);
    if (governed && node->type() != "_Sink") Hide(node);
  }
}

void GovernedNodes::Hide(Node* node) {
  Original& original = originals_[node];
  original = {&node->op(), node->attrs(), {}, {}};
  std::vector<DType> inputs, outputs;
  for (const Output& input : node->inputs()) inputs.push_back(RemoveRef(input.dtype()));
  for (int i = 0; i < node->num_outputs(); ++i) {
    outputs.push_back(node->output_type(i));
    original.shapes.push_back(node->output_shape(i));
    const HandleShape* handle = node->output_handle(i);
    original.handles.push_back(handle ? std::optional(*handle) : std::nullopt);
  }
  AttrMap attrs = node->attrs();
  SetAttr(attrs, "_inputs", std::move(inputs));
  SetAttr(attrs, "_outputs", std::move(outputs));
  graph_.Replace(node, SpecOf(*node, &GovernedOp(), std::move(attrs)));
  SetOutputs(node, original);
}

void GovernedNodes::SetOutputs(Node* node, const Original& original) {
  for (int i = 0; i < node->num_outputs(); ++i) {
    node->set_output_shape(i, original.shapes[i]);
    if (original.handles[i]) node->set_output_handle(i, *original.handles[i]);
  }
}

void GovernedNodes::Restore() {
  if (originals_.empty()) return;
  for (int id = 0; id < graph_.num_nodes(); ++id) {
    Node* node = graph_.node(id);
    if (!IsHidden(*node)) continue;
    Original& original = originals_.at(node);
    try {
      graph_.Replace(node, SpecOf(*node, original.op, std::move(original.attrs)));
    } catch (const Error&) {
      // A shape function's complaint: the kernel will say it, if the node is ever reached.
    }
    SetOutputs(node, original);
  }
}

}  // namespace sextant

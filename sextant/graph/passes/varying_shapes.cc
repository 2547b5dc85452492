#include "sextant/graph/passes/varying_shapes.h"

namespace sextant {
namespace {

bool IsReferenceVariable(const Node& node) {
  return node.type() == "Variable" || node.type() == "VariableV2";
}

// The variable that a reference leads to by way of the first inputs of what hands it on, or null.
const Node* VariableOf(Output reference) {
  const Node* node = reference.node();
  for (int steps = node->graph().num_nodes(); steps > 0; --steps) {
    if (IsReferenceVariable(*node)) return node;
    if (node->num_inputs() == 0 || !IsRef(node->input(0).dtype())) return nullptr;
    node = node->input(0).node();
  }
  return nullptr;
}

}  // namespace

void ForgetVaryingShapes(Graph& graph, const Graph& source, const std::string& prefix) {
  for (int id = 0; id < source.num_nodes(); ++id) {
    const Node& assign = *source.node(id);
    if (assign.type() != "Assign" || assign.attr<bool>("validate_shape")) continue;
    const Node* const variable = VariableOf(assign.input(0));
    if (variable == nullptr) continue;
    const PartialShape &declared = variable->output_shape(0), &value = assign.input(1).shape();
    if (value.fully_known() && value == declared) continue;
    Node* const copy = graph.FindNode(prefix + variable->name());
    if (copy != nullptr && IsReferenceVariable(*copy)) copy->set_output_shape(0, PartialShape());
  }
}

}  // namespace sextant

#include "sextant/runtime/variable_shapes.h"

#include <optional>
#include <unordered_map>

#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

// A read of a variable that waits for nothing, or what hands it on.
bool IsVariable(const Node& node) {
  if (!node.control_inputs().empty()) return false;
  if (node.type() == "Identity") return IsVariable(*node.input(0).node());
  return node.type() == "ReadVariableOp" && node.input(0).node()->type() == "VarHandleOp";
}

// The tensor whose shape `output` tells of; none where it is no variable.
std::optional<Output> MeasuredVariable(Output output) {
  const Node& node = *output.node();
  const std::string& type = node.type();
  if (type != "Shape" && type != "ShapeN" && type != "Size" && type != "Rank") return std::nullopt;
  const Output measured = node.input(output.index());
  if (!node.control_inputs().empty() || !IsVariable(*measured.node())) return std::nullopt;
  return measured;
}

}  // namespace

std::vector<Output> UseVariableShapes(Graph& graph) {
  std::vector<Output> measured;
  std::unordered_map<Output, Output> constants;
  const OpDef* const_op = graph.FindOp("Const");
  const int count = graph.num_nodes();
  for (int id = 0; id < count; ++id) {
    Node* node = graph.node(id);
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output input = node->input(i);
      const std::optional<Output> variable = MeasuredVariable(input);
      if (!variable) continue;
      Output& constant = constants[input];
      if (!constant) {
        const std::optional<Tensor> value = ConstantValue(input);
        if (!value) continue;
        const std::string name = graph.UniqueName(input.node()->name() + "/_known");
        constant = graph
                       .AddNode({.name = name,
                                 .op = const_op,
                                 .attrs = {{"value", *value}, {"dtype", value->dtype()}}})
                       ->output(0);
        measured.push_back(*variable);
      }
      graph.SetInput(node, i, constant);
    }
  }
  return measured;
}

}  // namespace sextant

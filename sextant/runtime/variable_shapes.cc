#include "sextant/runtime/variable_shapes.h"

#include <optional>

#include "sextant/graph/shape_context.h"
#include "sextant/runtime/constant_inputs.h"

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
  UseConstants(graph, "/_known", [&](Output output) -> std::optional<KnownInput> {
    const std::optional<Output> variable = MeasuredVariable(output);
    if (!variable) return std::nullopt;
    const std::optional<Tensor> value = ConstantValue(output);
    if (!value) return std::nullopt;
    measured.push_back(*variable);
    return KnownInput{.value = *value};
  });
  return measured;
}

}  // namespace sextant

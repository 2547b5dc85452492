#include "sextant/runtime/constant_inputs.h"

#include <unordered_map>
#include <utility>

namespace sextant {

void UseConstants(Graph& graph, std::string_view suffix,
                  FunctionRef<std::optional<KnownInput>(Output)> find) {
  std::unordered_map<Output, Output> constants;
  const OpDef* const_op = graph.FindOp("Const");
  const auto constant_for = [&](Output input) -> Output {
    if (const auto made = constants.find(input); made != constants.end()) return made->second;
    std::optional<KnownInput> known = find(input);
    if (!known) return Output();
    const Node* constant =
        graph.AddNode({.name = graph.UniqueName(input.node()->name() + std::string(suffix)),
                       .op = const_op,
                       .control_inputs = std::move(known->control_inputs),
                       .attrs = {{"value", known->value}, {"dtype", known->value.dtype()}},
                       .device = std::move(known->device)});
    return constants[input] = constant->output(0);
  };
  const int count = graph.num_nodes();
  for (int id = 0; id < count; ++id) {
    Node* node = graph.node(id);
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output input = node->input(i);
      if (input.node()->type() == "Const") continue;
      if (const Output constant = constant_for(input)) graph.SetInput(node, i, constant);
    }
  }
}

}  // namespace sextant

#include "sextant/runtime/lowered_branches.h"

#include <string_view>
#include <unordered_set>

#include "sextant/proto/graph.pb.h"

namespace sextant {

bool IsLowered(const Node& node) {
  if (node.type() == "Case" || node.type() == "StatelessCase") return false;
  const Attr* lowered = FindAttr(node.attrs(), "_lower_using_switch_merge");
  return lowered != nullptr && lowered->Is<bool>() && lowered->Get<bool>();
}

std::vector<Operation> ControlResults(const Function& function, const FunctionBody& body) {
  std::unordered_set<std::string_view> names;
  for (const auto& [result, node] : function.def().control_ret()) names.insert(node);
  std::vector<Operation> results;
  for (const Operation& effect : body.effects) {
    if (names.contains(effect.node()->name())) results.push_back(effect);
  }
  return results;
}

std::vector<int32_t> ReadOutputs(const Node& node) {
  std::vector<uint8_t> read(node.num_outputs());
  const Graph& graph = node.graph();
  for (int id = 0; id < graph.num_nodes(); ++id) {
    for (const Output& input : graph.node(id)->inputs()) {
      if (input.node() == &node) read[input.index()] = 1;
    }
  }
  std::vector<int32_t> outputs;
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (read[i]) outputs.push_back(i);
  }
  return outputs;
}

}  // namespace sextant

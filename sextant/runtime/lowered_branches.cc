#include "sextant/runtime/lowered_branches.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

constexpr char kFetched[] = "_fetched_itself";

bool HasFlag(const Node& node, const char* name) {
  const Attr* attr = FindAttr(node.attrs(), name);
  return attr != nullptr && attr->Is<bool>() && attr->Get<bool>();
}

bool WaitsFor(const Node& node, const Node& other) {
  return std::ranges::find(node.control_inputs(), &other) != node.control_inputs().end();
}

bool Reads(const Node& node, const Node& other) {
  return std::ranges::any_of(node.inputs(),
                             [&](const Output& input) { return input.node() == &other; });
}

}  // namespace

bool IsLowered(const Node& node) { return HasFlag(node, "_lower_using_switch_merge"); }

std::vector<Operation> ControlResults(const Function& function, const FunctionBody& body) {
  std::unordered_set<std::string_view> names;
  for (const auto& [result, node] : function.def().control_ret()) names.insert(node);
  std::vector<Operation> results;
  for (const Operation& effect : body.effects) {
    if (names.contains(effect.node()->name())) results.push_back(effect);
  }
  return results;
}

bool NeedsScalarPredicate(const Node& node, bool lowered) {
  return (lowered && IsLowered(node)) || HasFlag(node, "_scalar_condition");
}

LoweredUse FindUse(const Node& node) {
  LoweredUse use;
  const bool fetched = HasFlag(node, kFetched);
  use.control_results = fetched;
  std::vector<uint8_t> read(node.num_outputs(), fetched);
  const Graph& graph = node.graph();
  for (int id = 0; id < graph.num_nodes(); ++id) {
    const Node& other = *graph.node(id);
    for (const Output& input : other.inputs()) {
      if (input.node() == &node) read[input.index()] = 1;
    }
    use.control_results = use.control_results || WaitsFor(other, node);
  }
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (read[i]) use.outputs.push_back(i);
  }
  return use;
}

void MarkFetched(Graph& graph, const Node& sink) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* node = graph.node(id);
    if (!IsLowered(*node) || FindAttr(node->attrs(), kFetched) != nullptr) continue;
    graph.SetNodeAttr(node, kFetched, Attr(Reads(sink, *node) || WaitsFor(sink, *node)));
  }
}

}  // namespace sextant

#include <algorithm>
#include <unordered_map>

#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/runtime/passes/pass.h"

namespace sextant {
namespace {

bool Mergeable(const Node& node) {
  return !node.op().stateful() && !node.op().structural() && node.control_inputs().empty() &&
         node.num_outputs() > 0 && !node.type().starts_with('_');
}

size_t Hash(const Node& node) {
  size_t h = std::hash<const void*>()(&node.op());
  for (const Output& input : node.inputs()) h = h * 1000003 + std::hash<Output>()(input);
  if (node.type() == "Const") {  // many, without inputs: tell them apart by their bytes
    const Tensor& value = node.attr<Tensor>("value");
    h = h * 31 + value.bytes();
    if (IsPlain(value.dtype())) {
      const auto* bytes = static_cast<const unsigned char*>(value.raw_data());
      for (size_t i = 0; i < std::min<size_t>(value.bytes(), 64); ++i) h = h * 131 + bytes[i];
    }
  }
  return h;
}

bool Same(const Node& a, const Node& b) {
  if (&a.op() != &b.op() || a.device() != b.device() ||
      !std::ranges::equal(a.inputs(), b.inputs()) || a.attrs().size() != b.attrs().size()) {
    return false;
  }
  for (const auto& [name, value] : a.attrs()) {
    const Attr* other = FindAttr(b.attrs(), name);
    if (!other || !(value == *other)) return false;
  }
  return true;
}

}  // namespace

void MergeCommonSubexpressions(Graph& graph) {
  std::unordered_multimap<size_t, Node*> seen;
  std::unordered_map<const Node*, Node*> replaced;
  for (Node* node : TopologicalOrder(graph)) {
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output input = node->input(i);
      if (const auto it = replaced.find(input.node()); it != replaced.end()) {
        graph.SetInput(node, i, Output(it->second, input.index()));
      }
    }
    if (!Mergeable(*node)) continue;
    const size_t hash = Hash(*node);
    const auto [begin, end] = seen.equal_range(hash);
    const auto it = std::find_if(begin, end, [&](const auto& e) { return Same(*e.second, *node); });
    if (it != end) {
      replaced.emplace(node, it->second);
    } else {
      seen.emplace(hash, node);
    }
  }
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* node = graph.node(id);
    std::vector<Node*> controls(node->control_inputs().begin(), node->control_inputs().end());
    bool changed = false;
    for (Node*& control : controls) {
      if (const auto it = replaced.find(control); it != replaced.end()) {
        control = it->second;
        changed = true;
      }
    }
    if (changed) graph.SetControlInputs(node, std::move(controls));
  }
}

}  // namespace sextant

#include <algorithm>
#include <unordered_map>

#include "sextant/graph/passes/copy_subgraph.h"
#include "sextant/graph/shape_context.h"
#include "sextant/runtime/governed_nodes.h"
#include "sextant/runtime/passes/pass.h"

namespace sextant {
namespace {

// A look-up in a table that nothing in this run changes gives the same for the same keys.
bool LooksUp(const Node& node) { return node.type() == "LookupTableFindV2"; }
bool ChangesTables(const Graph& graph) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    const std::string& type = graph.node(id)->type();
    if (GovernedNodes::IsHidden(*graph.node(id)) || type.starts_with("InitializeTable") ||
        (type.starts_with("LookupTable") && !type.starts_with("LookupTableFind") &&
         !type.starts_with("LookupTableSize") && !type.starts_with("LookupTableExport"))) {
      return true;
    }
  }
  return false;
}

bool Mergeable(const Node& node, bool tables_change) {
  return (!node.op().stateful() || (LooksUp(node) && !tables_change)) && !node.op().structural() &&
         node.control_inputs().empty() && node.num_outputs() > 0 && !node.type().starts_with('_');
}

// The input that the node hands on as it is: reductions over no axes and reshapes to the shape that
// is there, which gradients are full of; or empty.
Output HandsOn(const Node& node) {
  const std::string& type = node.type();
  if (!node.control_inputs().empty() || node.num_inputs() != 2 || node.num_outputs() != 1)
    return {};
  const Output x = node.input(0);
  if (type == "Reshape") {  // a size that is not known was inferred, and must be checked
    const bool same = x.shape().fully_known() && x.shape() == node.output_shape(0);
    return same && ConstantValue(node.input(1)) ? x : Output();
  }
  if (type != "Sum" && type != "Mean" && type != "Prod" && type != "Max" && type != "Min")
    return {};
  const Node& axes = *node.input(1).node();
  const bool none = axes.type() == "Const" && axes.attr<Tensor>("value").num_elements() == 0;
  return none ? x : Output();
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

void MergeCommonSubexpressions(Graph& graph, const Device&) {
  std::unordered_multimap<size_t, Node*> seen;
  std::unordered_map<const Node*, Node*> replaced;
  std::unordered_map<const Node*, Output> handed_on;
  const bool tables_change = ChangesTables(graph);
  for (Node* node : TopologicalOrder(graph)) {
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Output input = node->input(i);
      if (const auto it = replaced.find(input.node()); it != replaced.end()) {
        graph.SetInput(node, i, Output(it->second, input.index()));
      } else if (const auto from = handed_on.find(input.node()); from != handed_on.end()) {
        graph.SetInput(node, i, from->second);
      }
    }
    if (const Output same = HandsOn(*node)) {
      handed_on.emplace(node, same);
      continue;
    }
    if (!Mergeable(*node, tables_change)) continue;
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

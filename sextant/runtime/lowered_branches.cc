#include "sextant/runtime/lowered_branches.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_set>

#include "sextant/proto/graph.pb.h"

namespace sextant {
namespace {

constexpr char kFetched[] = "_fetched_itself";
constexpr char kUsed[] = "_used_parts";  // the numbers of outputs, and kNotedControls
constexpr int64_t kNotedControls = -1;

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

bool IsFetchedItself(const Node& node) { return HasFlag(node, kFetched); }

void NoteUse(Graph& graph, Node* node, const LoweredUse& use) {
  std::vector<int64_t> parts(use.outputs.begin(), use.outputs.end());
  if (use.control_results) parts.push_back(kNotedControls);
  graph.SetNodeAttr(node, kUsed, Attr(std::move(parts)));
}

std::optional<LoweredUse> NotedUse(const Node& node) {
  const Attr* attr = FindAttr(node.attrs(), kUsed);
  if (attr == nullptr || !(attr->Is<std::vector<int64_t>>() || attr->Is<EmptyList>())) {
    return std::nullopt;
  }
  LoweredUse use;
  for (const int64_t part : attr->Get<std::vector<int64_t>>()) {
    if (part == kNotedControls) use.control_results = true;
    if (part >= 0 && part < node.num_outputs()) use.outputs.push_back(static_cast<int32_t>(part));
  }
  return use;
}

LoweredUse UseOf(const Node& node, bool lowered) {
  if (auto use = NotedUse(node); use && lowered && IsLowered(node)) return *std::move(use);
  LoweredUse all{.outputs = std::vector<int32_t>(node.num_outputs()), .control_results = true};
  std::iota(all.outputs.begin(), all.outputs.end(), 0);
  return all;
}

void PassUnneededOn(const Node& loop, const FunctionBody& body, std::vector<Output>& results) {
  std::vector<bool> needed(results.size());
  for (const int32_t i : UseOf(loop, true).outputs) needed[i] = true;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!needed[i]) results[i] = body.args[i];
  }
}

void MarkFetched(Graph& graph, const Node& sink) {
  for (int id = 0; id < graph.num_nodes(); ++id) {
    Node* node = graph.node(id);
    if (!IsLowered(*node) || FindAttr(node->attrs(), kFetched) != nullptr) continue;
    graph.SetNodeAttr(node, kFetched, Attr(Reads(sink, *node) || WaitsFor(sink, *node)));
  }
}

}  // namespace sextant

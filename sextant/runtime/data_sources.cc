#include "sextant/runtime/data_sources.h"

#include <algorithm>
#include <unordered_set>

#include "sextant/base/cancellable_wait.h"
#include "sextant/runtime/checks_first.h"

namespace sextant {

namespace {

// Whether it reads a handle only and has an output of unknown shape, or one of any shape.
bool ReadsABatch(const Node& node, bool any_shape) {
  if (node.type() != "IteratorGetNext" || node.num_inputs() != 1) return false;
  const Node& handle = *node.input(0).node();
  if (handle.num_inputs() > 0 || !handle.control_inputs().empty()) return false;
  for (int i = 0; i < node.num_outputs() && !any_shape; ++i) {
    if (!node.output_shape(i).fully_known()) return true;
  }
  return any_shape;
}

// Whether one of the nodes, which are all that a run needs, is to run before input and differs from
// run to run.
bool AnyBeforeInput(std::vector<Node*> nodes, const std::unordered_set<Output>& fed) {
  if (std::ranges::none_of(nodes, [](const Node* n) { return WantsToPrecedeInput(*n); }))
    return false;
  std::ranges::sort(nodes, {}, &Node::id);
  std::unordered_set<const Node*> early, varying;
  for (const Node* node : nodes) {
    bool varies = node->op().stateful() && node->type() != "Assert";
    bool free = WantsToPrecedeInput(*node) || MayPrecedeInput(*node);
    const auto visit = [&](const Node* on) {
      free = free && early.contains(on);
      varies = varies || varying.contains(on);
    };
    for (const Output& input : node->inputs()) {
      if (fed.contains(input)) {
        varies = true;
      } else {
        visit(input.node());
      }
    }
    for (const Node* control : node->control_inputs()) visit(control);
    if (free && varies && WantsToPrecedeInput(*node)) return true;
    if (free) early.insert(node);
    if (varies) varying.insert(node);
  }
  return false;
}

}  // namespace

std::vector<Node*> SourcesOf(const Graph& graph, std::span<const Output> feeds,
                             std::span<const Output> fetches, std::span<const Operation> targets,
                             bool keep_data) {
  const std::unordered_set<Output> fed(feeds.begin(), feeds.end());
  std::vector<uint8_t> seen(static_cast<size_t>(graph.num_nodes()));
  std::vector<Node*> stack, sources, nodes;
  const auto visit = [&](Node* node) {
    if (std::exchange(seen[static_cast<size_t>(node->id())], 1) == 0) stack.push_back(node);
  };
  for (const Output& fetch : fetches) {
    if (fetch && &fetch.graph() == &graph && !fed.contains(fetch)) visit(fetch.node());
  }
  for (const Operation& target : targets) {
    if (target && &target.node()->graph() == &graph) visit(target.node());
  }
  while (!stack.empty()) {
    CancellationScope::ThrowIfCancelled();
    Node* node = stack.back();
    stack.pop_back();
    nodes.push_back(node);
    if (node->type() == "MakeIterator") return {};
    if (ReadsABatch(*node, keep_data)) sources.push_back(node);
    for (const Output& input : node->inputs()) {
      if (!fed.contains(input)) visit(input.node());
    }
    for (Node* control : node->control_inputs()) visit(control);
  }
  if (!sources.empty() && !keep_data && AnyBeforeInput(std::move(nodes), fed)) return {};
  for (const Node* source : sources) {
    for (int i = 0; i < source->num_outputs(); ++i) {
      if (fed.contains(source->output(i))) return {};
    }
  }
  std::ranges::sort(sources, {}, &Node::id);
  std::unordered_set<const Node*> kept;
  std::erase_if(sources, [&](const Node* source) {
    const auto& before = source->control_inputs();
    const bool keep = std::ranges::all_of(before, [&](Node* node) { return kept.contains(node); });
    if (keep) kept.insert(source);
    return !keep;
  });
  return sources;
}

}  // namespace sextant

#include "sextant/runtime/data_sources.h"

#include <algorithm>
#include <unordered_set>

#include "sextant/base/cancellable_wait.h"

namespace sextant {

namespace {

// Whether it reads a handle only and has an output of unknown shape.
bool ReadsABatch(const Node& node) {
  if (node.type() != "IteratorGetNext" || node.num_inputs() != 1) return false;
  const Node& handle = *node.input(0).node();
  if (handle.num_inputs() > 0 || !handle.control_inputs().empty()) return false;
  for (int i = 0; i < node.num_outputs(); ++i) {
    if (!node.output_shape(i).fully_known()) return true;
  }
  return false;
}

}  // namespace

std::vector<Node*> SourcesOf(const Graph& graph, std::span<const Output> feeds,
                             std::span<const Output> fetches, std::span<const Operation> targets) {
  const std::unordered_set<Output> fed(feeds.begin(), feeds.end());
  std::vector<uint8_t> seen(static_cast<size_t>(graph.num_nodes()));
  std::vector<Node*> stack, sources;
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
    if (node->type() == "MakeIterator") return {};
    if (ReadsABatch(*node)) sources.push_back(node);
    for (const Output& input : node->inputs()) {
      if (!fed.contains(input)) visit(input.node());
    }
    for (Node* control : node->control_inputs()) visit(control);
  }
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

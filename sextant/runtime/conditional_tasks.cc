#include "sextant/runtime/conditional_tasks.h"

#include "sextant/base/error.h"
#include "sextant/runtime/fragment_groups.h"

namespace sextant {
namespace {

size_t IdOf(const Node* node) { return static_cast<size_t>(node->id()); }

// Calls f(from, node) for every edge whose tensor, or node, may be dead: a Switch is upstream, and
// no Merge since.
template <typename F>
void ForEachDeadEdge(const std::vector<Node*>& order, F&& f) {
  std::vector<bool> dead(order.size());
  for (Node* node : order) {
    const auto visit = [&](Node* from) {
      if (!dead[IdOf(from)]) return;
      dead[IdOf(node)] = true;
      f(from, node);
    };
    for (const Output& input : node->inputs()) visit(input.node());
    for (Node* control : node->control_inputs()) visit(control);
    if (node->type() == "Switch") dead[IdOf(node)] = true;
    if (node->type() == "Merge") dead[IdOf(node)] = false;
  }
}

}  // namespace

void CheckConditionals(const std::vector<Node*>& order, const std::vector<int>& group) {
  ForEachDeadEdge(order, [&](const Node* from, const Node* node) {
    const int to = group[IdOf(node)];
    if (group[IdOf(from)] == to || to == FragmentGroups::kCopied) return;
    throw Unimplemented(
        "[{} {}] on '{}' needs [{} {}] on '{}', which a Switch may leave without a value: a v1 "
        "conditional must be on one task as a whole",
        node->type(), node->name(), node->device(), from->type(), from->name(), from->device());
  });
}

}  // namespace sextant

// Two analyses say "may be dead" too often, each for graphs that the other understands, so a value
// must be suspect to both:
//
// - Switches counted as brackets, each closed by a Merge; a Merge inside another conditional can be
//   dead too. This takes some values behind the Merges of a decision tree for dead.
// - Deadness, which compares predicates. It takes a Merge for dead when it cannot see that the
//   predicates of its inputs are one and the same value, as when that was computed twice.
#include "sextant/runtime/dead_values.h"

#include <algorithm>
#include <numeric>

#include "sextant/graph/passes/deadness.h"

namespace sextant {
namespace {

size_t IdOf(const Node* node) { return static_cast<size_t>(node->id()); }

bool IsSwitch(const Node* node) { return node->type() == "Switch"; }

}  // namespace

std::vector<bool> MayBeDead(const std::vector<Node*>& order) {
  std::vector<bool> dead(order.size());
  if (std::ranges::none_of(order, IsSwitch)) return dead;
  std::vector<int> depth(order.size());  // Switches without their Merges upstream
  Deadness deadness;
  for (const Node* node : order) {
    deadness.Visit(*node);
    int& own = depth[IdOf(node)];
    for (const Output& input : node->inputs()) own = std::max(own, depth[IdOf(input.node())]);
    for (const Node* control : node->control_inputs()) own = std::max(own, depth[IdOf(control)]);
    if (IsSwitch(node)) ++own;
    if (node->type() == "Merge") own = std::max(0, own - 1);
    dead[IdOf(node)] = IsSwitch(node) || (own > 0 && !deadness.AlwaysLive(*node));
  }
  return dead;
}

std::vector<int> ConditionalsOfTasks(const std::vector<Node*>& order,
                                     const std::vector<int>& task) {
  const std::vector<bool> dead = MayBeDead(order);
  if (std::ranges::find(dead, true) == dead.end()) return {};
  std::vector<int> parent(order.size()), conditional(order.size(), kNoConditional);
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&](const Node* node) {
    size_t id = IdOf(node);
    while (parent[id] != static_cast<int>(id)) {
      parent[id] = parent[static_cast<size_t>(parent[id])];
      id = static_cast<size_t>(parent[id]);
    }
    return id;
  };
  const auto each_edge = [&](auto&& f) {
    ForEachDeadEdge(order, dead, [&](const Node* from, const Node* to) {
      if (task[IdOf(from)] == task[IdOf(to)] && task[IdOf(to)] != 0) f(from, to);
    });
  };
  each_edge(
      [&](const Node* from, const Node* to) { parent[find(from)] = static_cast<int>(find(to)); });
  each_edge([&](const Node* from, const Node* to) {
    conditional[IdOf(from)] = conditional[IdOf(to)] = static_cast<int>(find(to));
  });
  return conditional;
}

}  // namespace sextant

// Deadness analysis of v1 conditionals: under which predicates each node of a graph runs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "sextant/graph/graph.h"

namespace sextant {

// Nodes are visited in topological order; loops must have become While before (StructureLoops).
// A node that was not visited, as one that was added later, counts as always live.
class Deadness {
 public:
  // "predicate" is the value of a Switch's second input, where it is known before the run.
  void Visit(const Node& node, std::optional<bool> predicate = std::nullopt);

  // Whether the node runs, or the output has a value, in every run; in none.
  bool AlwaysLive(const Node& node) const { return ConditionOf(node) == kAlways; }
  bool NeverLive(const Node& node) const { return ConditionOf(node) == kNever; }
  bool AlwaysLive(Output output) const { return ConditionOf(output) == kAlways; }
  bool NeverLive(Output output) const { return ConditionOf(output) == kNever; }
  // Whether the output has a value in exactly those runs in which all of these have, and the nodes
  // run.
  bool LiveWith(Output output, std::span<const Output> values, std::span<Node* const> nodes);

  // The tensor that a predicate is a copy of (or, with true, the negation of): looks through
  // Identity, LogicalNot, Switch and defaults of placeholders.
  static std::pair<Output, bool> SourceOfPredicate(Output predicate);

 private:
  using Literal = int32_t;                       // 2 * number of the predicate + its value
  using Conjunction = std::vector<Literal>;      // sorted
  static constexpr int kAlways = 0, kNever = 1;  // indices of conjunctions

  int ConditionOf(const Node& node) const;
  int ConditionOf(Output output) const;
  int And(int a, int b);
  int AndLiteral(int condition, Literal literal);
  int Or(const Node& merge, std::vector<int> conditions);
  int Intern(Conjunction literals);
  Literal LiteralOf(Output predicate);
  Literal NumberOf(Output source);

  std::vector<Conjunction> conjunctions_{{}, {-1}};
  std::map<Conjunction, int> index_{{{}, kAlways}};
  std::vector<int> node_;                           // per node: index of its condition
  std::unordered_map<Output, int> switched_;        // outputs of Switches
  std::unordered_map<Output, Literal> predicates_;  // numbers
  // Of a Merge of the two sides of one predicate, per input: the literal under which it is live.
  std::unordered_map<const Node*, std::array<Literal, 2>> sides_;
  Literal num_predicates_ = 0;
};

}  // namespace sextant

// A tensor of a v1 conditional is live under a condition on the predicates of the Switches above
// it. Conditions are conjunctions of literals ("p holds", "p does not hold"):
//   - a node runs when all of its inputs, control inputs too, are live: under the union of their
//     literals; with both literals of one predicate it never runs;
//   - a Switch by p adds "not p" to its output 0 and "p" to its output 1;
//   - a Merge is live when one of its inputs is. Inputs that differ in nothing but the two literals
//     of one predicate make a Merge that is live under what they share. Any other disjunction
//     becomes a new literal, of which nothing is known: such a Merge may be dead.
//
// Example, tf.cond(p, lambda: a, lambda: tf.cond(q, lambda: b, lambda: c)):
//   c {!p, !q}, b {!p, q}  →  inner Merge {!p};  a {p}  →  outer Merge {}: always live.
//
// Invariant: an output whose condition is C has a value if and only if all literals of C hold.
// Predicates are told apart by the tensor they copy, so pred_id, switch_t, switch_f and LogicalNot
// of one tensor are one predicate; so is a gradient's "value_index of the Merge equals i", which
// says which side was taken. XLA's deadness analysis does the same with general formulas.
#include "sextant/graph/passes/deadness.h"

#include <algorithm>
#include <array>
#include <span>

#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

// Conditions of more literals are abbreviated by a new one: sets of them must stay cheap to unite.
constexpr size_t kMaxLiterals = 24;

constexpr int32_t Negation(int32_t literal) { return literal ^ 1; }

}  // namespace

void Deadness::Visit(const Node& node, std::optional<bool> predicate) {
  if (static_cast<int>(node_.size()) <= node.id()) node_.resize(node.graph().num_nodes(), kAlways);
  const std::string& type = node.type();
  int condition = kAlways;
  if (type == "Merge") {  // waits for control inputs, dead or not
    std::vector<int> conditions;
    for (const Output& input : node.inputs()) conditions.push_back(ConditionOf(input));
    condition = Or(node, std::move(conditions));
  } else if (type != "ControlTrigger") {
    for (const Output& input : node.inputs()) condition = And(condition, ConditionOf(input));
    for (const Node* control : node.control_inputs()) {
      condition = And(condition, ConditionOf(*control));
    }
  }
  node_[node.id()] = condition;
  if (type != "Switch") return;
  for (const bool side : {false, true}) {
    int& live = switched_[node.output(side)];
    if (predicate) {
      live = *predicate == side ? condition : kNever;
    } else {
      live = AndLiteral(condition,
                        side ? LiteralOf(node.input(1)) : Negation(LiteralOf(node.input(1))));
    }
  }
}

int Deadness::ConditionOf(const Node& node) const {
  return node.id() < static_cast<int>(node_.size()) ? node_[node.id()] : kAlways;
}

int Deadness::ConditionOf(Output output) const {
  const auto found = switched_.find(output);
  return found == switched_.end() ? ConditionOf(*output.node()) : found->second;
}

bool Deadness::LiveWith(Output output, std::span<const Output> values,
                        std::span<Node* const> nodes) {
  int condition = kAlways;
  for (const Output& value : values) condition = And(condition, ConditionOf(value));
  for (const Node* node : nodes) condition = And(condition, ConditionOf(*node));
  return condition == ConditionOf(output);
}

int Deadness::Intern(Conjunction literals) {
  const auto [found, added] =
      index_.emplace(std::move(literals), static_cast<int>(conjunctions_.size()));
  if (added) conjunctions_.push_back(found->first);
  return found->second;
}

int Deadness::And(int a, int b) {
  if (a == b || b == kAlways) return a;
  if (a == kAlways) return b;
  if (a == kNever || b == kNever) return kNever;
  Conjunction both;
  std::ranges::set_union(conjunctions_[a], conjunctions_[b], std::back_inserter(both));
  for (size_t i = 1; i < both.size(); ++i) {
    if (both[i] == Negation(both[i - 1])) return kNever;
  }
  if (both.size() > kMaxLiterals) both = {2 * num_predicates_++ + 1};
  return Intern(std::move(both));
}

int Deadness::AndLiteral(int condition, Literal literal) {
  return And(condition, Intern({literal}));
}

int Deadness::Or(const Node& merge, std::vector<int> conditions) {
  const std::vector<int> of_inputs = conditions;
  std::erase(conditions, kNever);
  if (conditions.empty()) return kNever;
  // Joins two of them until none are left that fit: a ∧ p, a ∧ ¬p → a;  a, a ∧ b → a.
  const auto join = [&](int a, int b) -> std::optional<int> {
    const Conjunction &x = conjunctions_[a], &y = conjunctions_[b];
    if (std::ranges::includes(x, y)) return b;
    if (std::ranges::includes(y, x)) return a;
    Conjunction only_x, only_y, common;
    std::ranges::set_difference(x, y, std::back_inserter(only_x));
    std::ranges::set_difference(y, x, std::back_inserter(only_y));
    if (only_x.size() != 1 || only_y.size() != 1 || only_x[0] != Negation(only_y[0])) return {};
    if (of_inputs.size() == 2) sides_[&merge] = {only_x[0], only_y[0]};
    std::ranges::set_intersection(x, y, std::back_inserter(common));
    return Intern(std::move(common));
  };
  for (size_t i = 1; i < conditions.size();) {
    size_t other = 0;
    std::optional<int> joined;
    for (; other < i && !joined; ++other) joined = join(conditions[other], conditions[i]);
    if (!joined) {
      ++i;
      continue;
    }
    conditions[other - 1] = *joined;
    conditions.erase(conditions.begin() + static_cast<int64_t>(i));
    i = 1;
  }
  return conditions.size() == 1 ? conditions[0] : Intern({2 * num_predicates_++ + 1});
}

std::pair<Output, bool> Deadness::SourceOfPredicate(Output predicate) {
  bool negated = false;
  for (;;) {
    const Node& node = *predicate.node();
    const std::string& type = node.type();
    if (type == "LogicalNot") {
      negated = !negated;
    } else if (type != "Identity" && type != "Switch" && type != "PlaceholderWithDefault") {
      return {predicate, negated};
    }
    predicate = node.input(0);
  }
}

Deadness::Literal Deadness::LiteralOf(Output predicate) {
  const std::pair<Output, bool> copied = SourceOfPredicate(predicate);
  const Output source = copied.first;
  const bool negated = copied.second;
  const auto signed_literal = [&](Literal literal) {
    return negated ? Negation(literal) : literal;
  };
  const Node& node = *source.node();
  if (node.type() == "Equal" && node.input(0).index() == 1) {
    const auto sides = sides_.find(node.input(0).node());
    const std::optional<Tensor> side = ConstantValue(node.input(1));
    if (sides != sides_.end() && side && side->num_elements() == 1) {
      const int64_t index = side->AsInt64s()[0];
      if (index == 0 || index == 1) return signed_literal(sides->second[index]);
    }
  }
  return signed_literal(2 * NumberOf(source) + 1);
}

Deadness::Literal Deadness::NumberOf(Output source) {
  const auto [found, added] = predicates_.emplace(source, num_predicates_);
  if (added) ++num_predicates_;
  return found->second;
}

}  // namespace sextant

// Persistent trees with hash consing, as in binary decision diagrams (Bryant, "Graph-based
// algorithms for Boolean function manipulation", 1986).
//
// A set of numbers below 2^h is a binary tree of height h: its halves are sets of numbers below
// 2^(h-1), the high one less 2^(h-1); at height 0 a set is empty or {0}. Trees share their
// subtrees, and equal subtrees are one (hash consing), so that sets are compared by their numbers:
//
//   {0, 1, 2} of [0, 4)  =  ({0, 1}, {0}),        {0, 1, 3}  =  ({0, 1}, {1}): {0, 1} is there once
//
// Hence adding a number makes h new trees at most, and a union or comparison looks only where the
// two trees differ. A chain of n nodes with a change each takes O(n log n), bit sets O(n^2).
#include "sextant/graph/passes/change_sets.h"

#include <algorithm>
#include <utility>

namespace sextant {
namespace {

constexpr ChangeSets::Set kOne = 1;  // {0}, of height 0

uint64_t Key(ChangeSets::Set a, ChangeSets::Set b) { return uint64_t{a} << 32 | b; }

}  // namespace

ChangeSets::ChangeSets(int size) : sets_(2) {
  while (int64_t{1} << height_ < size) ++height_;
}

ChangeSets::Set ChangeSets::Make(Set low, Set high) {
  const auto [found, first] = made_.emplace(Key(low, high), static_cast<Set>(sets_.size()));
  if (first) sets_.push_back({low, high});
  return found->second;
}

ChangeSets::Set ChangeSets::With(Set set, int number) { return With(set, number, height_); }

ChangeSets::Set ChangeSets::With(Set set, int number, int height) {
  if (height == 0) return kOne;
  const auto [low, high] = sets_[set];
  const int half = 1 << (height - 1);
  if (number < half) return Make(With(low, number, height - 1), high);
  return Make(low, With(high, number - half, height - 1));
}

ChangeSets::Set ChangeSets::Union(Set a, Set b, int height) {
  if (a == b || b == kEmpty) return a;
  if (a == kEmpty) return b;
  const uint64_t key = Key(std::min(a, b), std::max(a, b));
  if (const auto found = united_.find(key); found != united_.end()) return found->second;
  const Halves x = sets_[a], y = sets_[b];
  const Set low = Union(x.low, y.low, height - 1), high = Union(x.high, y.high, height - 1);
  return united_[key] = Make(low, high);
}

bool ChangeSets::HasMore(Set a, Set b, int begin, int end, int except) const {
  const auto look = [&](const auto& self, Set x, Set y, int first, int height) -> bool {
    if (x == y || x == kEmpty || first >= end || first + (1 << height) <= begin) return false;
    if (height == 0) return first != except;
    const int half = 1 << (height - 1);
    return self(self, sets_[x].low, sets_[y].low, first, height - 1) ||
           self(self, sets_[x].high, sets_[y].high, first + half, height - 1);
  };
  return look(look, a, b, 0, height_);
}

}  // namespace sextant

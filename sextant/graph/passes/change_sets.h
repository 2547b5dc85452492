// ChangeSets: many sets of small numbers that differ little from each other, such as the changes of
// variables that come before each node of a graph.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sextant {

class ChangeSets {
 public:
  using Set = uint32_t;  // equal sets are equal numbers
  static constexpr Set kEmpty = 0;

  // Of numbers below "size".
  explicit ChangeSets(int size);

  Set With(Set set, int number);
  Set Union(Set a, Set b) { return Union(a, b, height_); }
  // Whether "a" has a number of [begin, end) that "b" has not; "except" does not count.
  bool HasMore(Set a, Set b, int begin, int end, int except = -1) const;

 private:
  struct Halves {
    Set low, high;
  };
  Set Make(Set low, Set high);
  Set With(Set set, int number, int height);
  Set Union(Set a, Set b, int height);

  int height_ = 0;
  std::vector<Halves> sets_;
  std::unordered_map<uint64_t, Set> made_, united_;  // by their halves; by the sets united
};

}  // namespace sextant

// NumberSet: a set of numbers that come mostly in order, as ranges. It has a bound: beyond it the
// gap between the two lowest ranges counts as part of the set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace sextant::dist {

class NumberSet {
 public:
  explicit NumberSet(size_t most_ranges = 4096) : most_(most_ranges) {}

  bool contains(uint64_t number) const {
    const auto after = ranges_.upper_bound(number);
    return after != ranges_.begin() && number < std::prev(after)->second;
  }
  // REQUIRES: it is not the largest there is.
  void Insert(uint64_t number) {
    if (contains(number)) return;
    const auto after = ranges_.upper_bound(number);
    uint64_t end = number + 1;
    if (after != ranges_.end() && after->first == end) {
      end = after->second;
      ranges_.erase(after);
    }
    const auto next = ranges_.upper_bound(number);
    if (next != ranges_.begin() && std::prev(next)->second == number) {
      std::prev(next)->second = end;
    } else {
      ranges_.emplace_hint(next, number, end);
    }
    if (ranges_.size() <= most_) return;
    const auto second = std::next(ranges_.begin());
    ranges_.begin()->second = second->second;
    ranges_.erase(second);
  }
  void EraseBelow(uint64_t number) {
    while (!ranges_.empty() && ranges_.begin()->first < number) {
      const auto lowest = ranges_.extract(ranges_.begin());
      if (lowest.mapped() > number) ranges_.emplace(number, lowest.mapped());
    }
  }
  size_t num_ranges() const { return ranges_.size(); }

 private:
  size_t most_;
  std::map<uint64_t, uint64_t> ranges_;  // first → behind the last; they do not touch
};

}  // namespace sextant::dist

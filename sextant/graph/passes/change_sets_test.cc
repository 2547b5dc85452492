#include "sextant/graph/passes/change_sets.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace sextant {
namespace {

// Against std::set, with sizes that are and are not powers of two.
TEST(ChangeSetsTest, AreSets) {
  for (const int size : {1, 2, 37, 64}) {
    ChangeSets sets(size);
    std::mt19937 random(static_cast<unsigned>(size));
    const auto below = [&](size_t n) { return static_cast<int>(random() % n); };
    std::vector<std::pair<ChangeSets::Set, std::set<int>>> made = {{ChangeSets::kEmpty, {}}};
    for (int round = 0; round < 300; ++round) {
      auto [set, numbers] = made[static_cast<size_t>(below(made.size()))];
      if (round % 3 == 0) {
        const auto& [other, more] = made[static_cast<size_t>(below(made.size()))];
        set = sets.Union(set, other);
        numbers.insert(more.begin(), more.end());
      } else {
        const int number = below(static_cast<size_t>(size));
        set = sets.With(set, number);
        numbers.insert(number);
      }
      for (const auto& [other, more] : made) {
        EXPECT_EQ(set == other, numbers == more);
        const int begin = below(static_cast<size_t>(size)), end = begin + below(9), except = begin;
        bool expected = false;
        for (const int number : numbers) {
          expected = expected || (number >= begin && number < end && number != except &&
                                  !more.contains(number));
        }
        EXPECT_EQ(sets.HasMore(set, other, begin, end, except), expected);
      }
      made.emplace_back(set, numbers);
    }
  }
}

}  // namespace
}  // namespace sextant

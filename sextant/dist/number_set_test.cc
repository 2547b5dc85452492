#include "sextant/dist/number_set.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace sextant::dist {
namespace {

TEST(NumberSetTest, HoldsWhatASetWouldHold) {
  std::mt19937 random(7);
  NumberSet numbers(1000);
  std::set<uint64_t> expected;
  for (int round = 0; round < 2000; ++round) {
    const uint64_t number = random() % 200;
    if (round % 50 == 49) {
      numbers.EraseBelow(number / 4);
      expected.erase(expected.begin(), expected.lower_bound(number / 4));
    } else {
      numbers.Insert(number);
      expected.insert(number);
    }
    for (uint64_t i = 0; i < 201; ++i) ASSERT_EQ(numbers.contains(i), expected.contains(i)) << i;
  }
}

TEST(NumberSetTest, NumbersInOrderAreOneRange) {
  NumberSet numbers;
  for (uint64_t i = 10; i < 100000; ++i) numbers.Insert(i);
  EXPECT_EQ(numbers.num_ranges(), 1u);
  EXPECT_FALSE(numbers.contains(9));
  EXPECT_FALSE(numbers.contains(100000));
}

TEST(NumberSetTest, BeyondItsBoundTheLowestGapsAreFilled) {
  NumberSet numbers(3);
  for (const uint64_t number : {1, 3, 5, 7, 9}) numbers.Insert(number);
  EXPECT_EQ(numbers.num_ranges(), 3u);
  EXPECT_TRUE(numbers.contains(2));  // 1 to 5 have become one range
  EXPECT_FALSE(numbers.contains(6));
  for (const uint64_t number : {1, 3, 5, 7, 9}) EXPECT_TRUE(numbers.contains(number)) << number;
}

}  // namespace
}  // namespace sextant::dist

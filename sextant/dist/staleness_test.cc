#include "sextant/dist/staleness.h"

#include <gtest/gtest.h>

namespace sextant::dist {
namespace {

TEST(StalenessTest, CountsTheUpdatesBetweenReadAndUpdate) {
  Staleness staleness;
  EXPECT_EQ(staleness.Mean(), 0);
  staleness.Called(1, false);
  staleness.Called(2, false);
  staleness.Called(3, false);
  staleness.Called(2, true);   // 0
  staleness.Called(1, false);  // reads again: its first read counts
  staleness.Called(1, true);   // 1
  staleness.Called(3, true);   // 2
  EXPECT_EQ(staleness.updates(), 3);
  EXPECT_EQ(staleness.Mean(), 1);
  EXPECT_EQ(staleness.P99(), 2);
  staleness.Called(3, true);  // counts the step: is no second update
  EXPECT_EQ(staleness.updates(), 3);
}

TEST(StalenessTest, IsBoundedAndForgetsWhoNeverUpdates) {
  Staleness staleness;
  for (uint64_t run = 1; run <= 10'000; ++run) staleness.Called(run, false);
  staleness.Called(1, true);  // forgotten
  EXPECT_EQ(staleness.updates(), 0);
  for (uint64_t run = 9'000; run < 9'300; ++run) staleness.Called(run, true);
  staleness.Called(10'000, true);  // 300 in between
  EXPECT_EQ(staleness.updates(), 301);
  EXPECT_EQ(staleness.Mean(), 150);
  EXPECT_EQ(staleness.P99(), 255);
}

}  // namespace
}  // namespace sextant::dist

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

// Three workers read at version 0; two updates are between the last one's read and its update.
TEST(StalenessTest, BeyondTheLimitUpdatesAreDroppedOrCountLess) {
  for (const StaleUpdates beyond :
       {StaleUpdates::kDrop, StaleUpdates::kScale, StaleUpdates::kBlock}) {
    Staleness staleness({.most = 1, .beyond = beyond});
    for (const uint64_t run : {1, 2, 3}) EXPECT_EQ(staleness.Called(run, false), 1);
    EXPECT_EQ(staleness.Called(1, true), 1);
    EXPECT_EQ(staleness.Called(2, true), 1);  // 1 is not beyond 1
    const double third = staleness.Called(3, true);
    EXPECT_EQ(third, beyond == StaleUpdates::kDrop    ? 0
                     : beyond == StaleUpdates::kScale ? 1.0 / 3
                                                      : 1);
    EXPECT_EQ(staleness.dropped(), beyond == StaleUpdates::kDrop ? 1 : 0);
    EXPECT_EQ(staleness.updates(), beyond == StaleUpdates::kDrop ? 2 : 3);
    // What was dropped makes nobody else stale.
    staleness.Called(4, false);
    EXPECT_EQ(staleness.Called(3, true), 1);
    EXPECT_EQ(staleness.Called(4, true), 1);
    EXPECT_EQ(staleness.P99(), beyond == StaleUpdates::kDrop ? 1 : 2);
  }
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

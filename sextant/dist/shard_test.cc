#include "sextant/dist/shard.h"

#include <gtest/gtest.h>

#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

TEST(ShardTest, AHoldThatIsSentTwiceAndComesLateHoldsNothing) {
  Shard shard([] { return nullptr; });
  shard.Begin(/*epoch=*/1, /*chief=*/5, {});
  shard.Commit(1);
  shard.Hold(1, /*cut=*/7);
  shard.Take(1, 7);
  const Shard::Pass running = shard.Enter(1, /*member=*/6);
  shard.Hold(1, 7);  // would wait for the call, and hold those that come
  const Shard::Pass another = shard.Enter(1, 6);
}

TEST(ShardTest, TakesNoSnapshotOfAServerThatIsNotHeld) {
  Shard shard([] { return nullptr; });
  shard.Begin(1, 5, {});
  shard.Commit(1);
  EXPECT_EQ(StatusOf([&] { shard.Take(1, 7); }).code(), Code::kAborted);
  shard.Hold(1, 7);
  shard.Hold(1, 8);  // of a successor
  EXPECT_EQ(StatusOf([&] { shard.Take(1, 7); }).code(), Code::kAborted);
  shard.Take(1, 8);
  EXPECT_EQ(StatusOf([&] { shard.FindCut(7); }).code(), Code::kAborted);
  EXPECT_EQ(shard.FindCut(8), nullptr);
  EXPECT_EQ(StatusOf([&] { shard.Hold(2, 9); }).code(), Code::kAborted);
}

}  // namespace
}  // namespace sextant::dist

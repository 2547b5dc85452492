#include "sextant/dist/shard_epoch.h"

#include <gtest/gtest.h>

#include <functional>

#include "sextant/base/error.h"

namespace sextant::dist {
namespace {

const ModelSignature kModel = {{"b", "float", "[3]"}, {"w", "float", "[2,3]"}};

bool IsAborted(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kAborted);
    return true;
  }
  return false;
}

TEST(ShardEpoch, OnlyItsChiefTouchesAnEpochThatIsNotCommitted) {
  ShardEpoch shard;
  EXPECT_TRUE(IsAborted([&] { shard.Check(0, 1); }));
  EXPECT_TRUE(IsAborted([&] { shard.Commit(0); }));
  shard.Begin(1, /*chief=*/7, kModel);
  shard.Begin(1, 7, kModel);  // sent again
  EXPECT_TRUE(IsAborted([&] { shard.Begin(1, 8, kModel); }));
  shard.Check(1, 7);
  EXPECT_TRUE(IsAborted([&] { shard.Check(1, 9); }));
  shard.Commit(1);
  shard.Commit(1);
  shard.Check(1, 9);
  EXPECT_TRUE(IsAborted([&] { shard.Begin(1, 7, kModel); }));
}

TEST(ShardEpoch, ALaterEpochShutsTheEarlierOneOut) {
  ShardEpoch shard;
  shard.Begin(1, 7, kModel);
  shard.Commit(1);
  shard.Begin(3, 8, kModel);
  EXPECT_TRUE(IsAborted([&] { shard.Check(1, 9); }));  // a worker of before
  EXPECT_TRUE(IsAborted([&] { shard.Check(1, 7); }));  // the chief of before
  EXPECT_TRUE(IsAborted([&] { shard.Begin(2, 7, kModel); }));
  EXPECT_TRUE(IsAborted([&] { shard.Commit(1); }));
}

TEST(ShardEpoch, SaysTheFirstDifference) {
  EXPECT_EQ(FirstDifference(kModel, kModel), "");
  EXPECT_EQ(FirstDifference(kModel, {{"b", "float", "[3]"}, {"w", "float", "[2,4]"}}),
            "variable w is float [2,3] there and float [2,4] here");
  EXPECT_EQ(FirstDifference(kModel, {kModel[1]}), "variable b is there and not here");
  EXPECT_EQ(FirstDifference({kModel[1]}, kModel), "variable b is here and not there");
  EXPECT_EQ(FirstDifference(kModel, {kModel[0]}), "variable w is there and not here");
  EXPECT_EQ(FirstDifference({}, kModel), "variable b is here and not there");
}

TEST(ShardEpoch, DecidesHowAChiefStarts) {
  const ShardState empty, ready{ShardPhase::kReady, 4, kModel},
      begun{ShardPhase::kBegun, 5, kModel};
  const ShardState later{ShardPhase::kReady, 5, kModel};
  const auto decide = [](std::vector<ShardState> servers) { return DecideStart(servers, kModel); };
  EXPECT_EQ(decide({empty, empty}).action, StartAction::kInitialise);
  EXPECT_EQ(decide({empty, empty}).next_epoch, 1u);
  EXPECT_EQ(decide({ready, ready}).action, StartAction::kAdopt);
  EXPECT_EQ(decide({ready, empty}).action, StartAction::kRestore);
  EXPECT_EQ(decide({ready, empty}).next_epoch, 5u);
  EXPECT_EQ(decide({ready, empty}).why, "ps 1 holds no whole model");
  EXPECT_EQ(decide({begun, later}).action, StartAction::kRestore);  // killed between the commits
  EXPECT_EQ(decide({begun, later}).next_epoch, 6u);
  EXPECT_EQ(decide({later, ready}).action, StartAction::kRestore);
  EXPECT_EQ(decide({begun, empty}).action, StartAction::kRestore);
  const ShardState other{ShardPhase::kReady, 4, {kModel[0]}};
  EXPECT_EQ(decide({ready, other}).action, StartAction::kRefuse);
  EXPECT_EQ(decide({ready, other}).why,
            "ps 1 holds another model: variable w is here and not there");
}

}  // namespace
}  // namespace sextant::dist

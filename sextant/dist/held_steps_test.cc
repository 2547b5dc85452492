// Steps that are held while a chief takes a snapshot.
#include <gtest/gtest.h>

#include "sextant/dist/coordinator_test.h"

namespace sextant::dist {
namespace {

using std::chrono::seconds;

using HeldStepsTest = CoordinatorTest;

// A snapshot during which the chief's lease has ended is not of one step; nor may a chief that was
// stopped release what its successor holds.
TEST_F(HeldStepsTest, AHoldStandsOnlyAsLongAsTheLease) {
  Start(TokenOptions{.replicas_to_aggregate = 1, .total_replicas = 2});
  EXPECT_TRUE(coordinator_->HoldSteps(1, kCut, now_));
  EXPECT_TRUE(coordinator_->ReleaseSteps(kCut));
  EXPECT_TRUE(coordinator_->ReleaseSteps(kCut));        // its answer was lost
  EXPECT_TRUE(coordinator_->HoldSteps(1, kCut, now_));  // a question that comes late holds nothing
  for (const UpdatePart& part : {kPart0, kPart1}) coordinator_->PartReady(part, 1, 0);
  EXPECT_TRUE(MayRun(kPart0, 0));
  for (const UpdatePart& part : {kPart0, kPart1}) coordinator_->PartRan(part, 1, 0, now_);

  EXPECT_TRUE(coordinator_->HoldSteps(1, kCut + 1, now_));
  now_ += seconds(6);
  coordinator_->Join(kChiefTask, 1, 0, now_);  // the same process, after a pause
  EXPECT_FALSE(coordinator_->ReleaseSteps(kCut + 1));

  EXPECT_TRUE(coordinator_->HoldSteps(1, kCut + 2, now_));
  now_ += seconds(6);
  coordinator_->Join(kChiefTask, 5, 0, now_);  // its successor
  EXPECT_TRUE(coordinator_->HoldSteps(5, kCut + 3, now_));
  EXPECT_FALSE(coordinator_->ReleaseSteps(kCut + 2));
  for (const UpdatePart& part : {kPart0, kPart1}) coordinator_->PartReady(part, 1, 1);
  EXPECT_FALSE(MayRun(kPart0, 1));
  EXPECT_TRUE(coordinator_->ReleaseSteps(kCut + 3));
  EXPECT_TRUE(MayRun(kPart0, 1));
}

TEST_F(HeldStepsTest, StepsAreHeldBetweenTwo) {
  Start(TokenOptions{.replicas_to_aggregate = 1, .total_replicas = 2});
  for (const UpdatePart& part : {kPart0, kPart1}) coordinator_->PartReady(part, 1, 0);
  EXPECT_TRUE(MayRun(kPart0, 0));
  EXPECT_FALSE(coordinator_->HoldSteps(1, kCut, now_));  // this one has begun
  EXPECT_TRUE(MayRun(kPart1, 0));
  for (const UpdatePart& part : {kPart0, kPart1}) coordinator_->PartRan(part, 1, 0, now_);
  EXPECT_TRUE(coordinator_->HoldSteps(1, kCut, now_));
  for (const UpdatePart& part : {kPart0, kPart1}) coordinator_->PartReady(part, 1, 1);
  EXPECT_FALSE(MayRun(kPart0, 1));
  EXPECT_TRUE(coordinator_->ReleaseSteps(kCut));
  EXPECT_TRUE(MayRun(kPart0, 1));
  for (const UpdatePart& part : {kPart0, kPart1}) coordinator_->PartRan(part, 1, 1, now_);
  // A chief that dies holds nobody.
  EXPECT_TRUE(coordinator_->HoldSteps(1, kCut + 1, now_));
  now_ += seconds(6);
  coordinator_->Join(kWorkerTask, 2, 1, now_);
  for (const UpdatePart& part : {kPart0, kPart1}) coordinator_->PartReady(part, 1, 2);
  EXPECT_TRUE(MayRun(kPart0, 2));
}

}  // namespace
}  // namespace sextant::dist

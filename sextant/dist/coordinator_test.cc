#include "sextant/dist/coordinator_test.h"

#include <gtest/gtest.h>

namespace sextant::dist {
namespace {

using std::chrono::seconds;

TEST_F(CoordinatorTest, RunsTheLastStepsAgainWhenTheyAreLost) {
  Start({}, 100);
  EXPECT_EQ(coordinator_->Heartbeat(kWorkerTask, 2, 100, now_).state, MemberState::kStop);
  EXPECT_EQ(coordinator_->Join(kPs1Task, 12, {}, now_ + seconds(6)).state, MemberState::kStop);
  coordinator_->Join(kChiefTask, 3, 0, now_ + seconds(6));
  const uint64_t epoch = coordinator_->BeginEpoch(3, 0, now_ + seconds(6));
  coordinator_->CommitEpoch(3, epoch, 80, now_ + seconds(6));
  EXPECT_FALSE(coordinator_->stopping());
  EXPECT_EQ(coordinator_->step(), 80);
  // Who asked for another reason is still heard.
  coordinator_->RequestStop("enough");
  const uint64_t next = coordinator_->BeginEpoch(3, 0, now_ + seconds(6));
  coordinator_->CommitEpoch(3, next, 60, now_ + seconds(6));
  EXPECT_EQ(coordinator_->stop_reason(), "enough");
}

TEST_F(CoordinatorTest, LetsNobodyInBeforeTheCommit) {
  coordinator_.emplace(CoordinatorOptions{.trainers = {kChiefTask, kWorkerTask}, .num_ps = 2});
  EXPECT_EQ(coordinator_->Missing(), "chief 0, worker 0, ps 0, ps 1");
  MemberAnswer answer = coordinator_->Join(kWorkerTask, 2, 1, now_);
  EXPECT_EQ(answer.state, MemberState::kWait);
  EXPECT_EQ(answer.why, "the chief has not started the training yet");
  coordinator_->Join(kChiefTask, 1, 0, now_);
  EXPECT_EQ(coordinator_->Missing(), "ps 0, ps 1");
  const uint64_t epoch = coordinator_->BeginEpoch(1, 6, now_);
  EXPECT_EQ(epoch, 7u);
  answer = coordinator_->Heartbeat(kWorkerTask, 2, 0, now_);
  EXPECT_EQ(answer.state, MemberState::kWait);
  EXPECT_EQ(answer.why, "the chief is initialising the variables");
  coordinator_->CommitEpoch(1, epoch, 40, now_);
  answer = coordinator_->Heartbeat(kWorkerTask, 2, 0, now_);
  EXPECT_EQ(answer.state, MemberState::kReady);
  EXPECT_EQ(answer.epoch, 7u);
  EXPECT_EQ(coordinator_->step(), 40);
}

TEST_F(CoordinatorTest, ASecondProcessOfATaskIsRefusedUntilTheLeaseEnds) {
  Start();
  EXPECT_EQ(CodeOf([&] { coordinator_->Join(kWorkerTask, 3, 1, now_ + seconds(4)); }),
            Code::kAlreadyExists);
  EXPECT_EQ(coordinator_->Join(kWorkerTask, 3, 1, now_ + seconds(5)).state, MemberState::kReady);
  // Now the first one is the second.
  EXPECT_EQ(CodeOf([&] { coordinator_->Heartbeat(kWorkerTask, 2, 0, now_ + seconds(6)); }),
            Code::kAborted);
  EXPECT_EQ(CodeOf([&] { coordinator_->Join(kWorkerTask, 2, 1, now_ + seconds(6)); }),
            Code::kAlreadyExists);
}

TEST_F(CoordinatorTest, AMemberThatWasSilentJoinsAgain) {
  Start();
  now_ += seconds(4);
  BeatAll();
  now_ += seconds(2);
  EXPECT_EQ(CodeOf([&] { coordinator_->Heartbeat(kWorkerTask, 2, 0, now_); }), Code::kAborted);
  EXPECT_EQ(coordinator_->Missing(), "worker 0");
  EXPECT_EQ(coordinator_->Join(kWorkerTask, 2, 1, now_).state, MemberState::kReady);
}

TEST_F(CoordinatorTest, AChiefWithoutLeaseMayNotSaveOrBegin) {
  Start();
  EXPECT_TRUE(coordinator_->MaySave(1, now_ + seconds(4)));
  EXPECT_FALSE(coordinator_->MaySave(1, now_ + seconds(5)));
  now_ += seconds(6);
  coordinator_->Join(kChiefTask, 5, 0, now_);  // its successor
  EXPECT_FALSE(coordinator_->MaySave(1, now_));
  EXPECT_TRUE(coordinator_->MaySave(5, now_));
  EXPECT_EQ(CodeOf([&] { coordinator_->BeginEpoch(1, 0, now_); }), Code::kAborted);
  coordinator_->Adopt(5, 1, now_);
  EXPECT_EQ(CodeOf([&] { coordinator_->Adopt(5, 2, now_); }), Code::kAborted);
  EXPECT_EQ(coordinator_->Join(kWorkerTask, 2, 1, now_).state, MemberState::kReady);  // went on
}

// Parameter server 0 was started again: the chief has to join it before it goes on.
TEST_F(CoordinatorTest, ANewCoordinatorSendsTheChiefBackToJoin) {
  Coordinator started_again({});
  EXPECT_EQ(CodeOf([&] { started_again.BeginEpoch(1, 1, now_); }), Code::kAborted);
  EXPECT_EQ(CodeOf([&] { started_again.CommitEpoch(1, 1, 0, now_); }), Code::kAborted);
  EXPECT_EQ(CodeOf([&] { started_again.Adopt(1, 1, now_); }), Code::kAborted);
  EXPECT_EQ(CodeOf([&] { started_again.HoldSteps(1, /*cut=*/7, now_); }), Code::kAborted);
}

TEST_F(CoordinatorTest, AnOlderBeginCannotBeCommitted) {
  Start();
  const uint64_t first = coordinator_->BeginEpoch(1, 0, now_);
  now_ += seconds(6);
  coordinator_->Join(kChiefTask, 5, 0, now_);
  const uint64_t second = coordinator_->BeginEpoch(5, 0, now_);
  EXPECT_GT(second, first);
  EXPECT_EQ(CodeOf([&] { coordinator_->CommitEpoch(1, first, 0, now_); }), Code::kAborted);
  EXPECT_EQ(CodeOf([&] { coordinator_->CommitEpoch(5, first, 0, now_); }), Code::kAborted);
  coordinator_->CommitEpoch(5, second, 3, now_);
  coordinator_->CommitEpoch(5, second, 3, now_);  // sent again
  EXPECT_TRUE(coordinator_->ready());
}

TEST_F(CoordinatorTest, ARestartedServerEndsTheEpoch) {
  Start();
  now_ += seconds(6);
  const MemberAnswer answer = coordinator_->Join(kPs1Task, 12, {}, now_);
  EXPECT_EQ(answer.state, MemberState::kWait);
  EXPECT_EQ(answer.why, "ps 1 was started again; the chief restores the variables");
  coordinator_->Join(kChiefTask, 1, 0, now_);
  EXPECT_EQ(CodeOf([&] { coordinator_->Adopt(1, 1, now_); }), Code::kAborted);
}

TEST_F(CoordinatorTest, StopsAtMaxStepsAndEndsWhenTheChiefHasSaved) {
  Start({}, 100);
  EXPECT_EQ(coordinator_->Heartbeat(kWorkerTask, 2, 99, now_).state, MemberState::kReady);
  EXPECT_EQ(coordinator_->Heartbeat(kWorkerTask, 2, 101, now_).state, MemberState::kStop);
  EXPECT_EQ(coordinator_->stop_reason(), "step 101 of 100 is reached");
  coordinator_->Finish();
  EXPECT_EQ(coordinator_->Join(kPs1Task, 13, {}, now_ + seconds(9)).state, MemberState::kDone);
}

TEST_F(CoordinatorTest, StopsWhenNobodyHasData) {
  Start();
  coordinator_->EndOfData(kChiefTask, 1, now_);
  EXPECT_FALSE(coordinator_->stopping());
  coordinator_->EndOfData(kWorkerTask, 2, now_);
  EXPECT_EQ(coordinator_->stop_reason(), "the data has ended");
}

TEST_F(CoordinatorTest, NobodyWaitsForTheDataOfADeadWorker) {
  Start();
  coordinator_->EndOfData(kChiefTask, 1, now_);
  now_ += seconds(4);
  BeatAll();
  coordinator_->Tick(now_ + seconds(2));
  EXPECT_TRUE(coordinator_->stopping());
}

}  // namespace
}  // namespace sextant::dist

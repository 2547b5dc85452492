// Synchronous steps, as the coordinator counts them.
#include "sextant/dist/step_tokens.h"

#include <gtest/gtest.h>

#include <set>

#include "sextant/dist/coordinator_test.h"

namespace sextant::dist {
namespace {

using std::chrono::seconds;

using StepTokensTest = CoordinatorTest;

TEST_F(StepTokensTest, TokensOfTheNextStepComeWhenAllShardsHaveApplied) {
  Start(TokenOptions{.replicas_to_aggregate = 2, .total_replicas = 2});
  const auto chief = coordinator_->TakeToken(kChiefTask, 1, 1, now_);
  const auto worker = coordinator_->TakeToken(kWorkerTask, 2, 1, now_);
  ASSERT_TRUE(chief && worker);
  EXPECT_NE(chief->number, worker->number);
  // An answer that was lost.
  EXPECT_EQ(coordinator_->TakeToken(kWorkerTask, 2, 1, now_)->number, worker->number);
  coordinator_->UsedToken(kWorkerTask, 2, 1, *worker, "", now_);
  EXPECT_FALSE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
  coordinator_->PartReady(kPart0, 1, 0);
  coordinator_->PartReady(kPart0, 1, 0);  // sent again
  EXPECT_FALSE(MayRun(kPart0, 0));
  EXPECT_EQ(CodeOf([&] { coordinator_->PartReady({.part = 1, .num_parts = 3}, 1, 0); }),
            Code::kInvalidArgument);
  coordinator_->PartReady(kPart1, 1, 0);
  EXPECT_TRUE(MayRun(kPart0, 0) && MayRun(kPart1, 0));
  coordinator_->PartRan(kPart0, 1, 0, now_);
  coordinator_->PartRan(kPart0, 1, 0, now_);  // sent again
  EXPECT_FALSE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
  coordinator_->PartRan(kPart1, 1, 0, now_);
  coordinator_->PartReady(kPart1, 1, 0);  // late
  EXPECT_FALSE(MayRun(kPart1, 0));
  EXPECT_EQ(coordinator_->TakeToken(kWorkerTask, 2, 1, now_)->step, 1);
  EXPECT_EQ(CodeOf([&] { coordinator_->TakeToken(kWorkerTask, 2, 2, now_); }), Code::kAborted);
}

TEST_F(StepTokensTest, StagesRunInOrder) {
  Start(TokenOptions{.replicas_to_aggregate = 1, .total_replicas = 2});
  const UpdatePart count{.part = 2, .num_parts = 3, .stage = 1};
  const UpdatePart update0{.part = 0, .num_parts = 3}, update1{.part = 1, .num_parts = 3};
  for (const UpdatePart& part : {count, update0, update1}) {
    EXPECT_FALSE(MayRun(count, 0));
    coordinator_->PartReady(part, 1, 0);
  }
  EXPECT_TRUE(MayRun(update0, 0) && MayRun(update1, 0));
  coordinator_->PartRan(update1, 1, 0, now_);
  EXPECT_FALSE(MayRun(count, 0));
  coordinator_->PartRan(update0, 1, 0, now_);
  EXPECT_TRUE(MayRun(count, 0));
  coordinator_->PartRan(count, 1, 0, now_);
  EXPECT_EQ(coordinator_->step(), 1);
}

TEST_F(StepTokensTest, AnUpdateThatFailsEndsTheTraining) {
  Start(TokenOptions{.replicas_to_aggregate = 2, .total_replicas = 2});
  coordinator_->StepFailed(1, Status(Code::kInvalidArgument, "shapes differ"));
  EXPECT_EQ(CodeOf([&] { coordinator_->TakeToken(kWorkerTask, 2, 1, now_); }),
            Code::kInvalidArgument);
  EXPECT_EQ(coordinator_->stop_reason(), "an update failed: shapes differ");
}

// With R = N each contributes once; one that takes too long, or died, is replaced.
TEST_F(StepTokensTest, ASecondTokenOfAStepIsForWhoeverHasHadNone) {
  Start(TokenOptions{.replicas_to_aggregate = 2, .total_replicas = 2});
  const auto first = coordinator_->TakeToken(kWorkerTask, 2, 1, now_);
  coordinator_->UsedToken(kWorkerTask, 2, 1, *first, "", now_);
  for (int second = 0; second < 10; ++second) {
    coordinator_->Heartbeat(kWorkerTask, 2, 0, now_);
    coordinator_->Heartbeat(kChiefTask, 1, 0, now_);
    EXPECT_FALSE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
    now_ += seconds(1);
  }
  EXPECT_TRUE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
}

TEST_F(StepTokensTest, WhoHasNeverComeIsWaitedFor) {
  coordinator_.emplace(
      CoordinatorOptions{.trainers = {kChiefTask, kWorkerTask, {"worker", 1}}, .num_ps = 1});
  coordinator_->Join(kChiefTask, 1, 0, now_);
  coordinator_->CommitEpoch(1, coordinator_->BeginEpoch(1, 0, now_), 0, now_,
                            TokenOptions{.replicas_to_aggregate = 3, .total_replicas = 3});
  coordinator_->UsedToken(kChiefTask, 1, 1, *coordinator_->TakeToken(kChiefTask, 1, 1, now_), "",
                          now_);
  for (int second = 0; second < 100; ++second) {
    now_ += seconds(1);
    coordinator_->Heartbeat(kChiefTask, 1, 0, now_);
  }
  EXPECT_FALSE(coordinator_->TakeToken(kChiefTask, 1, 1, now_));
  // When they have been there and are gone, the chief does all.
  coordinator_->Join(kWorkerTask, 2, 1, now_);
  coordinator_->Join({"worker", 1}, 3, 2, now_);
  coordinator_->Leave(kWorkerTask, 2, now_);
  coordinator_->Leave({"worker", 1}, 3, now_);
  EXPECT_TRUE(coordinator_->TakeToken(kChiefTask, 1, 1, now_));
}

// A worker that was away for longer than its lease has contributed all the same: it does not get
// the token again.
TEST_F(StepTokensTest, ATokenThatWasUsedAfterItsLeaseIsNotGivenOutAgain) {
  Start(TokenOptions{.replicas_to_aggregate = 2, .total_replicas = 2, .deterministic = true});
  const auto token = coordinator_->TakeToken(kWorkerTask, 2, 1, now_);
  for (int second = 0; second < 11; ++second) {
    now_ += seconds(1);
    coordinator_->Heartbeat(kWorkerTask, 2, 0, now_);
  }
  coordinator_->UsedToken(kWorkerTask, 2, 1, *token, "", now_);
  EXPECT_FALSE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
}

TEST_F(StepTokensTest, TheTokenOfADeadWorkerGoesToAnother) {
  Start(TokenOptions{.replicas_to_aggregate = 2, .total_replicas = 2});
  const auto lost = coordinator_->TakeToken(kWorkerTask, 2, 1, now_);
  const auto own = coordinator_->TakeToken(kChiefTask, 1, 1, now_);
  coordinator_->UsedToken(kChiefTask, 1, 1, *own, "", now_);
  EXPECT_FALSE(coordinator_->TakeToken(kChiefTask, 1, 1, now_));
  now_ += seconds(4);
  BeatAll();
  now_ += seconds(2);  // the worker's lease has ended
  const auto taken = coordinator_->TakeToken(kChiefTask, 1, 1, now_);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->number, lost->number);
}

TEST_F(StepTokensTest, TokensExpireOnTheirOwn) {
  Start(TokenOptions{.replicas_to_aggregate = 1, .total_replicas = 1});
  EXPECT_TRUE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
  for (int second = 0; second < 10; ++second) {
    coordinator_->Heartbeat(kWorkerTask, 2, 0, now_);
    coordinator_->Heartbeat(kChiefTask, 1, 0, now_);
    EXPECT_FALSE(coordinator_->TakeToken(kChiefTask, 1, 1, now_));
    now_ += seconds(1);
  }
  EXPECT_TRUE(coordinator_->TakeToken(kChiefTask, 1, 1, now_));
  EXPECT_EQ(coordinator_->tokens()->expired(), 1);
}

TEST_F(StepTokensTest, BackupsAndSeveralTokensPerWorker) {
  Start(TokenOptions{.replicas_to_aggregate = 1, .total_replicas = 2});
  EXPECT_TRUE(coordinator_->TakeToken(kChiefTask, 1, 1, now_));
  EXPECT_TRUE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
  CommitStep(0);
  EXPECT_EQ(coordinator_->TakeToken(kChiefTask, 1, 1, now_)->step, 1);

  Start(TokenOptions{.replicas_to_aggregate = 3, .total_replicas = 2});
  std::set<int> numbers = {coordinator_->TakeToken(kChiefTask, 1, 1, now_)->number};
  for (int i = 0; i < 2; ++i) {
    const auto token = coordinator_->TakeToken(kWorkerTask, 2, 1, now_);
    numbers.insert(token->number);
    coordinator_->UsedToken(kWorkerTask, 2, 1, *token, "", now_);
  }
  EXPECT_EQ(numbers.size(), 3u);
  EXPECT_FALSE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
}

TEST_F(StepTokensTest, DeterministicTokensBelongToRanks) {
  Start(TokenOptions{.replicas_to_aggregate = 2, .total_replicas = 2, .deterministic = true});
  EXPECT_EQ(coordinator_->TakeToken(kWorkerTask, 2, 1, now_)->number, 1);
  EXPECT_EQ(coordinator_->TakeToken(kChiefTask, 1, 1, now_)->number, 0);
  coordinator_->EndOfData(kWorkerTask, 2, now_);
  EXPECT_EQ(coordinator_->stop_reason(), "worker 0 has no more data");
  EXPECT_EQ(
      CodeOf([&] {
        Start(TokenOptions{.replicas_to_aggregate = 1, .total_replicas = 2, .deterministic = true});
      }),
      Code::kInvalidArgument);
}

TEST_F(StepTokensTest, SynchronousStepsEndAtMaxSteps) {
  Start(TokenOptions{}, 2);
  for (int64_t step = 0; step < 2; ++step) {
    EXPECT_EQ(coordinator_->TakeToken(kChiefTask, 1, 1, now_)->step, step);
    CommitStep(step);
  }
  EXPECT_FALSE(coordinator_->TakeToken(kChiefTask, 1, 1, now_));
  EXPECT_EQ(coordinator_->Heartbeat(kWorkerTask, 2, 0, now_).state, MemberState::kStop);
  EXPECT_EQ(coordinator_->step(), 2);
}

// Two workers that leave before R is reached: the others fill it (R = 3, N = 4, 2 leave).
TEST_F(StepTokensTest, TheRestFillsTheStepWhenDataEndsUnevenly) {
  std::vector<TaskId> trainers = {kChiefTask};
  for (int i = 0; i < 3; ++i) trainers.push_back({"worker", i});
  coordinator_.emplace(CoordinatorOptions{.trainers = trainers, .num_ps = 1});
  for (int rank = 0; rank < 4; ++rank) coordinator_->Join(trainers[rank], 100 + rank, rank, now_);
  coordinator_->CommitEpoch(100, coordinator_->BeginEpoch(100, 0, now_), 0, now_,
                            TokenOptions{.replicas_to_aggregate = 3, .total_replicas = 4});
  for (int rank = 2; rank < 4; ++rank) {
    coordinator_->TakeToken(trainers[rank], 100 + rank, 1, now_);
    coordinator_->EndOfData(trainers[rank], 100 + rank, now_);
    EXPECT_FALSE(coordinator_->TakeToken(trainers[rank], 100 + rank, 1, now_));
    coordinator_->Leave(trainers[rank], 100 + rank, now_);
  }
  int contributions = 0;
  for (int turn = 0; turn < 4; ++turn) {
    const int rank = turn % 2;
    const auto token = coordinator_->TakeToken(trainers[rank], 100 + rank, 1, now_);
    ASSERT_TRUE(token);
    coordinator_->UsedToken(trainers[rank], 100 + rank, 1, *token, "", now_);
    ++contributions;
  }
  EXPECT_GE(contributions, 3);
  const UpdatePart all{.part = 0, .num_parts = 1};
  coordinator_->PartReady(all, 1, 0);
  EXPECT_TRUE(coordinator_->PartMayRun(all, 1, 0));
  coordinator_->PartRan(all, 1, 0, now_);
  EXPECT_EQ(coordinator_->step(), 1);
}

// Deterministic, chief 1 and worker 2: states are kept by step, and who comes back goes on there.
TEST_F(StepTokensTest, ADeterministicWorkerGoesOnFromTheStateOfItsStep) {
  Start(TokenOptions{.replicas_to_aggregate = 2, .total_replicas = 2, .deterministic = true});
  EXPECT_EQ(coordinator_->TakeRunState(kWorkerTask, 2, now_), "");
  const auto own = coordinator_->TakeToken(kChiefTask, 1, 1, now_);
  const auto other = coordinator_->TakeToken(kWorkerTask, 2, 1, now_);
  EXPECT_EQ(other->number, 1);
  coordinator_->UsedToken(kChiefTask, 1, 1, *own, "chief at 1", now_);
  CommitStep(0);
  // The worker has contributed and not told its state: no checkpoint of step 1 yet.
  EXPECT_FALSE(coordinator_->HoldSteps(1, kCut, now_));
  // It dies and comes back: it has to run step 0 again, though the model is at 1.
  coordinator_->Leave(kWorkerTask, 2, now_);
  coordinator_->Join(kWorkerTask, 3, 1, now_);
  EXPECT_EQ(coordinator_->TakeRunState(kWorkerTask, 3, now_), "");
  const auto again = coordinator_->TakeToken(kWorkerTask, 3, 1, now_);
  EXPECT_EQ(again->step, 0);
  coordinator_->UsedToken(kWorkerTask, 3, /*epoch=*/0, *again, "of another epoch", now_);
  EXPECT_FALSE(coordinator_->HoldSteps(1, kCut, now_));
  coordinator_->UsedToken(kWorkerTask, 3, 1, *again, "worker at 1", now_);
  EXPECT_TRUE(coordinator_->HoldSteps(1, kCut, now_));
  EXPECT_TRUE(coordinator_->ReleaseSteps(kCut));
  // It may be a step ahead when the checkpoint is saved.
  const auto next = coordinator_->TakeToken(kWorkerTask, 3, 1, now_);
  EXPECT_EQ(next->step, 1);
  coordinator_->UsedToken(kWorkerTask, 3, 1, *next, "worker at 2", now_);
  const ClusterRunState saved = coordinator_->SaveRunState();
  EXPECT_EQ(saved.ranks, (std::map<int, std::string>{{0, "chief at 1"}, {1, "worker at 1"}}));
  EXPECT_EQ(coordinator_->TakeRunState(kWorkerTask, 3, now_), "worker at 2");
  EXPECT_EQ(coordinator_->TakeRunState(kChiefTask, 1, now_), "chief at 1");

  // Another epoch, from that checkpoint.
  const uint64_t epoch = coordinator_->BeginEpoch(1, 0, now_);
  coordinator_->RestoreRunState(1, saved, now_);
  coordinator_->CommitEpoch(
      1, epoch, 1, now_,
      TokenOptions{.replicas_to_aggregate = 2, .total_replicas = 2, .deterministic = true});
  EXPECT_EQ(coordinator_->TakeRunState(kWorkerTask, 3, now_), "worker at 1");
  EXPECT_EQ(coordinator_->TakeToken(kWorkerTask, 3, epoch, now_)->step, 1);
  EXPECT_TRUE(coordinator_->HoldSteps(1, kCut + 1, now_));
}

TEST_F(StepTokensTest, AWorkerWaitsForTheSlowest) {
  coordinator_.emplace(CoordinatorOptions{.trainers = {kChiefTask, kWorkerTask}, .most_lead = 2});
  coordinator_->Join(kChiefTask, 1, 0, now_);
  coordinator_->CommitEpoch(1, coordinator_->BeginEpoch(1, 0, now_), 0, now_);
  const auto chief_may = [&](int64_t clock) {
    return coordinator_->MayBegin(kChiefTask, 1, 1, clock, now_);
  };
  for (int64_t clock = 0; clock <= 10; ++clock) EXPECT_TRUE(chief_may(clock));  // it is alone
  coordinator_->Join(kWorkerTask, 2, 1, now_);
  EXPECT_TRUE(coordinator_->MayBegin(kWorkerTask, 2, 1, 0, now_));  // beside the chief, at 10
  EXPECT_TRUE(chief_may(11));
  EXPECT_TRUE(chief_may(12));
  EXPECT_FALSE(chief_may(13));
  EXPECT_TRUE(coordinator_->MayBegin(kWorkerTask, 2, 1, 1, now_));
  EXPECT_TRUE(chief_may(13));
  EXPECT_FALSE(chief_may(14));
  EXPECT_EQ(CodeOf([&] { coordinator_->MayBegin(kWorkerTask, 2, 7, 2, now_); }), Code::kAborted);
  // A dead worker holds nobody up; when it is back it begins beside the others.
  for (int i = 0; i < 6; ++i) {
    now_ += seconds(1);
    coordinator_->Heartbeat(kChiefTask, 1, 0, now_);
  }
  EXPECT_TRUE(chief_may(14));
  EXPECT_TRUE(chief_may(30));
  coordinator_->Join(kWorkerTask, 3, 1, now_);
  EXPECT_TRUE(coordinator_->MayBegin(kWorkerTask, 3, 1, 0, now_));
  EXPECT_FALSE(chief_may(33));
  coordinator_->EndOfData(kWorkerTask, 3, now_);
  EXPECT_TRUE(chief_may(33));
}

TEST_F(StepTokensTest, BlocksOfAWorkerWhoseLeaseEndsGoToOthers) {
  Start();
  coordinator_->DescribeInput(kWorkerTask, 2, "data", {"first"}, now_);
  const BlockQuestion question{.source = "data"};
  EXPECT_EQ(coordinator_->NextBlock(kWorkerTask, 2, question, now_).block, "first");
  EXPECT_EQ(coordinator_->NextBlock(kChiefTask, 1, question, now_).kind, BlockAnswer::Kind::kWait);
  for (int i = 0; i < 6; ++i) {
    now_ += seconds(1);
    BeatAll();
  }
  EXPECT_EQ(coordinator_->NextBlock(kChiefTask, 1, question, now_).block, "first");
  EXPECT_EQ(CodeOf([&] { coordinator_->NextBlock(kWorkerTask, 2, question, now_); }),
            Code::kAborted);
}

TEST_F(StepTokensTest, GivesNoBlocksWhileTheChiefRestores) {
  Start();
  coordinator_->DescribeInput(kWorkerTask, 2, "data", {"first", "second"}, now_);
  const BlockQuestion question{.source = "data"};
  const BlockId given = coordinator_->NextBlock(kWorkerTask, 2, question, now_).id;
  coordinator_->NoteRunState(kWorkerTask, 2, 5, "state of the worker", now_);
  const ClusterRunState saved = coordinator_->SaveRunState();
  EXPECT_EQ(saved.ranks, (std::map<int, std::string>{{1, "state of the worker"}}));

  // All is lost; the chief restores what the checkpoint says before it lets anybody in.
  coordinator_.emplace(CoordinatorOptions{.trainers = {kChiefTask, kWorkerTask}, .num_ps = 1});
  coordinator_->Join(kPs0Task, 20, {}, now_);
  coordinator_->Join(kChiefTask, 1, 0, now_);
  coordinator_->Join(kWorkerTask, 3, 1, now_);
  const uint64_t epoch = coordinator_->BeginEpoch(1, 7, now_);
  EXPECT_EQ(coordinator_->NextBlock(kWorkerTask, 3, question, now_).kind, BlockAnswer::Kind::kWait);
  coordinator_->RestoreRunState(1, saved, now_);
  coordinator_->CommitEpoch(1, epoch, 100, now_);
  EXPECT_EQ(coordinator_->TakeRunState(kWorkerTask, 3, now_), "state of the worker");
  EXPECT_EQ(coordinator_->TakeRunState(kWorkerTask, 3, now_), "");
  BlockQuestion with_block = question;
  with_block.held = {given};
  EXPECT_NE(coordinator_->NextBlock(kWorkerTask, 3, with_block, now_).id, given);
}

TEST_F(StepTokensTest, RestoredBlocksOfAWorkerThatDoesNotComeBackGoToOthers) {
  Start();
  coordinator_->DescribeInput(kWorkerTask, 2, "data", {"first"}, now_);
  const BlockQuestion question{.source = "data"};
  coordinator_->NextBlock(kWorkerTask, 2, question, now_);
  const ClusterRunState saved = coordinator_->SaveRunState();
  coordinator_.emplace(CoordinatorOptions{.trainers = {kChiefTask, kWorkerTask}, .num_ps = 1});
  coordinator_->Join(kPs0Task, 20, {}, now_);
  coordinator_->Join(kChiefTask, 1, 0, now_);
  const uint64_t epoch = coordinator_->BeginEpoch(1, 0, now_);
  coordinator_->RestoreRunState(1, saved, now_);
  coordinator_->CommitEpoch(1, epoch, 0, now_);
  EXPECT_EQ(coordinator_->NextBlock(kChiefTask, 1, question, now_).kind, BlockAnswer::Kind::kWait);
  for (int i = 0; i < 11; ++i) {
    now_ += seconds(1);
    coordinator_->Heartbeat(kPs0Task, 20, 0, now_);
    coordinator_->Heartbeat(kChiefTask, 1, 0, now_);
  }
  EXPECT_EQ(coordinator_->NextBlock(kChiefTask, 1, question, now_).block, "first");
}

}  // namespace
}  // namespace sextant::dist

#include "sextant/dist/coordinator.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant::dist {
namespace {

using std::chrono::seconds;

const TaskId kChiefTask{"chief", 0}, kWorkerTask{"worker", 0}, kPs0Task{"ps", 0}, kPs1Task{"ps", 1};

template <typename Function>
Code CodeOf(const Function& function) {
  try {
    function();
  } catch (const Error& error) {
    return error.code();
  }
  return Code::kOk;
}

class CoordinatorTest : public testing::Test {
 protected:
  // A cluster of chief 1, worker 2 and servers 10 and 11, by incarnations, in epoch 1 at step 0.
  void Start(const std::optional<TokenOptions>& synchronous = {},
             std::optional<int64_t> max_steps = {}) {
    coordinator_.emplace(CoordinatorOptions{.trainers = {kChiefTask, kWorkerTask},
                                            .num_ps = 2,
                                            .max_steps = max_steps,
                                            .synchronous = synchronous});
    coordinator_->Join(kPs0Task, 10, {}, now_);
    coordinator_->Join(kPs1Task, 11, {}, now_);
    coordinator_->Join(kChiefTask, 1, 0, now_);
    const uint64_t epoch = coordinator_->BeginEpoch(1, 0, now_);
    coordinator_->CommitEpoch(1, epoch, 0, now_);
    EXPECT_EQ(coordinator_->Join(kWorkerTask, 2, 1, now_).state, MemberState::kReady);
  }
  void BeatAll() {
    coordinator_->Heartbeat(kPs0Task, 10, 0, now_);
    coordinator_->Heartbeat(kPs1Task, 11, 0, now_);
    coordinator_->Heartbeat(kChiefTask, 1, 0, now_);
  }
  // All shards get R contributions and apply the step.
  void CommitStep(int64_t step) {
    EXPECT_FALSE(coordinator_->ShardReady(0, 1, step));
    EXPECT_TRUE(coordinator_->ShardReady(1, 1, step));
    EXPECT_FALSE(coordinator_->ShardApplied(1, 1, step, now_));
    EXPECT_TRUE(coordinator_->ShardApplied(0, 1, step, now_));
  }

  SteadyTime now_ = SteadyTime() + seconds(1000);
  std::optional<Coordinator> coordinator_;
};

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
  EXPECT_EQ(CodeOf([&] { coordinator_->BeginEpoch(1, 0, now_); }), Code::kFailedPrecondition);
  coordinator_->Adopt(5, 1, now_);
  EXPECT_EQ(CodeOf([&] { coordinator_->Adopt(5, 2, now_); }), Code::kAborted);
  EXPECT_EQ(coordinator_->Join(kWorkerTask, 2, 1, now_).state, MemberState::kReady);  // went on
}

TEST_F(CoordinatorTest, AnOlderBeginCannotBeCommitted) {
  Start();
  const uint64_t first = coordinator_->BeginEpoch(1, 0, now_);
  now_ += seconds(6);
  coordinator_->Join(kChiefTask, 5, 0, now_);
  const uint64_t second = coordinator_->BeginEpoch(5, 0, now_);
  EXPECT_GT(second, first);
  EXPECT_EQ(CodeOf([&] { coordinator_->CommitEpoch(1, first, 0, now_); }),
            Code::kFailedPrecondition);
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

TEST_F(CoordinatorTest, TokensOfTheNextStepComeWhenAllShardsHaveApplied) {
  Start(TokenOptions{.replicas_to_aggregate = 2, .total_replicas = 2});
  const auto chief = coordinator_->TakeToken(kChiefTask, 1, 1, now_);
  const auto worker = coordinator_->TakeToken(kWorkerTask, 2, 1, now_);
  ASSERT_TRUE(chief && worker);
  EXPECT_NE(chief->number, worker->number);
  // An answer that was lost.
  EXPECT_EQ(coordinator_->TakeToken(kWorkerTask, 2, 1, now_)->number, worker->number);
  coordinator_->UsedToken(kWorkerTask, 2, *worker, now_);
  EXPECT_FALSE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
  EXPECT_FALSE(coordinator_->ShardReady(0, 1, 0));
  EXPECT_FALSE(coordinator_->ShardReady(0, 1, 0));  // sent again
  EXPECT_TRUE(coordinator_->ShardReady(1, 1, 0));
  EXPECT_FALSE(coordinator_->ShardApplied(0, 1, 0, now_));
  EXPECT_FALSE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
  EXPECT_TRUE(coordinator_->ShardApplied(1, 1, 0, now_));
  EXPECT_FALSE(coordinator_->ShardReady(1, 1, 0));  // late
  EXPECT_EQ(coordinator_->TakeToken(kWorkerTask, 2, 1, now_)->step, 1);
  EXPECT_EQ(CodeOf([&] { coordinator_->TakeToken(kWorkerTask, 2, 2, now_); }), Code::kAborted);
}

TEST_F(CoordinatorTest, TheTokenOfADeadWorkerGoesToAnother) {
  Start(TokenOptions{.replicas_to_aggregate = 2, .total_replicas = 2});
  const auto lost = coordinator_->TakeToken(kWorkerTask, 2, 1, now_);
  const auto own = coordinator_->TakeToken(kChiefTask, 1, 1, now_);
  coordinator_->UsedToken(kChiefTask, 1, *own, now_);
  EXPECT_FALSE(coordinator_->TakeToken(kChiefTask, 1, 1, now_));
  now_ += seconds(4);
  BeatAll();
  now_ += seconds(2);  // the worker's lease has ended
  const auto taken = coordinator_->TakeToken(kChiefTask, 1, 1, now_);
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->number, lost->number);
}

TEST_F(CoordinatorTest, TokensExpireOnTheirOwn) {
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

TEST_F(CoordinatorTest, BackupsAndSeveralTokensPerWorker) {
  Start(TokenOptions{.replicas_to_aggregate = 1, .total_replicas = 2});
  EXPECT_TRUE(coordinator_->TakeToken(kChiefTask, 1, 1, now_));
  EXPECT_TRUE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
  CommitStep(0);
  EXPECT_EQ(coordinator_->TakeToken(kChiefTask, 1, 1, now_)->step, 1);

  Start(TokenOptions{.replicas_to_aggregate = 3, .total_replicas = 2});
  std::set<int> numbers;
  for (int i = 0; i < 3; ++i) {
    const auto token = coordinator_->TakeToken(kWorkerTask, 2, 1, now_);
    numbers.insert(token->number);
    coordinator_->UsedToken(kWorkerTask, 2, *token, now_);
  }
  EXPECT_EQ(numbers.size(), 3u);
  EXPECT_FALSE(coordinator_->TakeToken(kWorkerTask, 2, 1, now_));
}

TEST_F(CoordinatorTest, DeterministicTokensBelongToRanks) {
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

TEST_F(CoordinatorTest, SynchronousStepsEndAtMaxSteps) {
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
TEST_F(CoordinatorTest, TheRestFillsTheStepWhenDataEndsUnevenly) {
  std::vector<TaskId> trainers = {kChiefTask};
  for (int i = 0; i < 3; ++i) trainers.push_back({"worker", i});
  coordinator_.emplace(CoordinatorOptions{
      .trainers = trainers,
      .num_ps = 1,
      .synchronous = TokenOptions{.replicas_to_aggregate = 3, .total_replicas = 4}});
  for (int rank = 0; rank < 4; ++rank) coordinator_->Join(trainers[rank], 100 + rank, rank, now_);
  coordinator_->CommitEpoch(100, coordinator_->BeginEpoch(100, 0, now_), 0, now_);
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
    coordinator_->UsedToken(trainers[rank], 100 + rank, *token, now_);
    ++contributions;
  }
  EXPECT_GE(contributions, 3);
  EXPECT_TRUE(coordinator_->ShardReady(0, 1, 0));
  EXPECT_TRUE(coordinator_->ShardApplied(0, 1, 0, now_));
}

TEST_F(CoordinatorTest, BlocksOfAWorkerWhoseLeaseEndsGoToOthers) {
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

TEST_F(CoordinatorTest, GivesNoBlocksWhileTheChiefRestores) {
  Start();
  coordinator_->DescribeInput(kWorkerTask, 2, "data", {"first", "second"}, now_);
  const BlockQuestion question{.source = "data"};
  const BlockId given = coordinator_->NextBlock(kWorkerTask, 2, question, now_).id;
  coordinator_->NoteRunState(kWorkerTask, 2, "state of the worker", now_);
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

TEST_F(CoordinatorTest, RestoredBlocksOfAWorkerThatDoesNotComeBackGoToOthers) {
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

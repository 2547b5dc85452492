#include "sextant/device/kernel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/thread_team.h"

namespace sextant {
namespace {

// A step with inputs in slots 0.. and one output in the last slot.
class KernelContextTest : public testing::Test {
 protected:
  KernelContextTest() {
    io_ = {.inputs = {0},
           .outputs = {1},
           .output_types = {DType::kFloat},
           .last_use = {1},
           .in_place = {-1},
           .prepared = {0},
           .alias = {-1},
           .node_name = "n"};
    run_.allocator = &HostAllocator();
    ctx_.set_step(&io_);
    slots_[0] = Tensor::Of<float>({1, 2});
  }
  void MakeInputTransient() { slots_[0].buffer()->set_transient(true); }

  std::vector<Tensor> slots_ = std::vector<Tensor>(2);
  StepIo io_;
  RunEnvironment run_;
  KernelContext ctx_{slots_.data(), run_};
};

TEST_F(KernelContextTest, OutputTakesTheBufferOfAnInputThatEndsHere) {
  io_.in_place[0] = 0;
  EXPECT_EQ(ctx_.AllocateOutput(0, {2, 1}).raw_data(), slots_[0].raw_data());
  EXPECT_EQ(slots_[1].shape(), (Shape{2, 1}));
}

TEST_F(KernelContextTest, OutputIsNewWhenTheInputMayNotBeOverwritten) {
  EXPECT_NE(ctx_.AllocateOutput(0, {2}).raw_data(), slots_[0].raw_data());
  io_.in_place[0] = 0;
  EXPECT_NE(ctx_.AllocateOutput(0, {3}).raw_data(), slots_[0].raw_data());
  {
    const Tensor reader = slots_[0];
    EXPECT_NE(ctx_.AllocateOutput(0, {2}).raw_data(), slots_[0].raw_data());
  }
  MakeInputTransient();
  EXPECT_NE(ctx_.AllocateOutput(0, {2}).raw_data(), slots_[0].raw_data());
}

TEST_F(KernelContextTest, PreparedOutputIsFilledWhereItIs) {
  io_.prepared[0] = 1;
  slots_[1] = Tensor(DType::kFloat, {2});
  const void* home = slots_[1].raw_data();
  ctx_.ForwardInput(0, 0);
  EXPECT_EQ(slots_[1].raw_data(), home);
  EXPECT_EQ(slots_[1].data<float>()[1], 2);
  ctx_.SetOutput(0, Tensor::Of<float>({3, 4}));
  EXPECT_EQ(slots_[1].raw_data(), home);
  EXPECT_EQ(slots_[1].data<float>()[1], 4);
  EXPECT_THROW(ctx_.AllocateOutput(0, {3}), Error);
  EXPECT_THROW(ctx_.SetOutput(0, Tensor(1.0f)), Error);
}

TEST_F(KernelContextTest, ForwardSharesWhatLastsOrIsKnownToBeShared) {
  ctx_.ForwardInput(0, 0, {1, 2});
  EXPECT_TRUE(slots_[1].SharesBufferWith(slots_[0]));
  EXPECT_EQ(slots_[1].shape(), (Shape{1, 2}));
  MakeInputTransient();
  ctx_.ForwardInput(0, 0);
  EXPECT_FALSE(slots_[1].SharesBufferWith(slots_[0]));
  io_.alias[0] = 0;
  ctx_.ForwardInput(0, 0);
  EXPECT_TRUE(slots_[1].SharesBufferWith(slots_[0]));
}

TEST_F(KernelContextTest, TakeInputMovesOnlyWhatNobodyElseReads) {
  EXPECT_TRUE(ctx_.TakeInput(0).unique());
  EXPECT_FALSE(slots_[0].valid());
  slots_[0] = Tensor(1.0f);
  io_.last_use[0] = 0;
  EXPECT_FALSE(ctx_.TakeInput(0).unique());
  io_.last_use = {1, 1};
  io_.inputs = {0, 0};
  EXPECT_FALSE(ctx_.TakeInput(0).unique());
  EXPECT_TRUE(slots_[0].valid());
}

TEST_F(KernelContextTest, SetOutputChecksTheType) {
  EXPECT_THROW(ctx_.SetOutput(0, Tensor(1)), Error);
}

TEST_F(KernelContextTest, ParallelForCoversTheRangeAndKeepsSmallWorkHere) {
  ThreadTeam team(3);
  run_.team = &team;
  EXPECT_EQ(ctx_.threads(), 3);
  std::atomic<int> calls{0};
  std::atomic<int64_t> covered{0};
  const auto count = [&](int64_t begin, int64_t end) {
    ++calls;
    covered += end - begin;
  };
  ctx_.ParallelFor(1000, 1, count);
  EXPECT_EQ(calls, 1);
  ctx_.ParallelFor(1'000'000, 1, count);
  EXPECT_EQ(calls, 4);
  EXPECT_EQ(covered, 1'001'000);
  run_.max_threads = 2;
  EXPECT_EQ(ctx_.threads(), 2);
  ctx_.ParallelFor(1'000'000, 1, count);
  EXPECT_EQ(calls, 6);
  ctx_.ParallelFor(0, 1, count);
  EXPECT_EQ(calls, 6);
}

}  // namespace
}  // namespace sextant

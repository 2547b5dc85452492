#include "sextant/dist/input_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/testing/status_of.h"

namespace sextant::dist {
namespace {

using Kind = BlockAnswer::Kind;

std::vector<std::string> Blocks(int count) {
  std::vector<std::string> blocks;
  for (int i = 0; i < count; ++i) blocks.push_back("block " + std::to_string(i));
  return blocks;
}

// A worker that reads one block after another.
class Reader {
 public:
  Reader(InputBlocks* blocks, int rank) : blocks_(blocks), rank_(rank) {}
  // The kind of the answer; what it reads is in `held`.
  Kind Ask(int64_t iteration = 0, bool more_follow = false) {
    BlockQuestion question{.source = "a", .iteration = iteration, .more_follow = more_follow};
    question.read.swap(held);
    read.insert(read.end(), question.read.begin(), question.read.end());
    const BlockAnswer answer = blocks_->Next(rank_, question);
    if (answer.kind == Kind::kBlock) {
      EXPECT_EQ(answer.block, "block " + std::to_string(answer.id.number));
      held = {answer.id};
    }
    return answer.kind;
  }
  std::vector<BlockId> held, read;

 private:
  InputBlocks* const blocks_;
  const int rank_;
};

std::vector<int64_t> Numbers(std::vector<BlockId> ids) {
  std::vector<int64_t> numbers;
  for (const BlockId& id : ids) numbers.push_back(id.number);
  return numbers;
}

TEST(InputBlocksTest, GivesEachBlockOnceInAnOrderOfTheIteration) {
  InputBlocks blocks({.seed = 3});
  Reader a(&blocks, 0), b(&blocks, 1);
  EXPECT_EQ(a.Ask(), Kind::kDescribe);
  blocks.Describe("a", Blocks(20));
  blocks.Describe("a", Blocks(2));  // of a worker that cut it too: the first counts
  std::vector<std::vector<int64_t>> orders;
  for (const int64_t iteration : {0, 1, 2}) {
    a.read.clear();
    b.read.clear();
    while (a.Ask(iteration, true) == Kind::kBlock && b.Ask(iteration, true) == Kind::kBlock) {
    }
    EXPECT_EQ(b.Ask(iteration, true), Kind::kEnd);
    std::vector<BlockId> all = a.read;
    all.insert(all.end(), b.read.begin(), b.read.end());
    orders.push_back(Numbers(all));
    std::vector<int64_t> sorted = orders.back();
    std::sort(sorted.begin(), sorted.end());
    ASSERT_EQ(sorted.size(), 20u);
    for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(sorted[static_cast<size_t>(i)], i);
  }
  EXPECT_NE(orders[0], orders[1]);
  EXPECT_EQ(blocks.blocks_read(0) + blocks.blocks_read(1), 60);
}

TEST(InputBlocksTest, WaitsForBlocksThatMayComeBack) {
  InputBlocks blocks({});
  blocks.Describe("a", Blocks(2));
  Reader a(&blocks, 0), b(&blocks, 1);
  a.Ask();
  b.Ask();
  EXPECT_EQ(a.Ask(), Kind::kWait);
  EXPECT_EQ(a.Ask(), Kind::kWait);
  blocks.Return(1);
  EXPECT_EQ(a.Ask(), Kind::kBlock);
  EXPECT_EQ(a.held, b.held);
  EXPECT_EQ(a.Ask(), Kind::kEnd);
}

TEST(InputBlocksTest, DoesNotWaitWhereOthersMayWaitForThisWorker) {
  InputBlocks blocks({.wait_for_others = false});
  blocks.Describe("a", Blocks(2));
  Reader a(&blocks, 0), b(&blocks, 1);
  a.Ask();
  b.Ask();
  EXPECT_EQ(a.Ask(), Kind::kEnd);
}

TEST(InputBlocksTest, AWorkerThatIsAheadReadsWhatADeadOneLeft) {
  InputBlocks blocks({});
  blocks.Describe("a", Blocks(2));
  Reader a(&blocks, 0), b(&blocks, 1);
  b.Ask(0, true);
  a.Ask(0, true);
  EXPECT_EQ(a.Ask(0, true), Kind::kEnd);  // not kWait: the next iteration may begin
  a.Ask(1, true);
  blocks.Return(1);
  EXPECT_EQ(a.Ask(1, true), Kind::kBlock);
  EXPECT_EQ(a.held, b.held);
  EXPECT_EQ(a.held[0].iteration, 0);
}

TEST(InputBlocksTest, AWorkerThatForgotItsBlockGetsItAgain) {
  InputBlocks blocks({});
  blocks.Describe("a", Blocks(5));
  Reader before(&blocks, 0), after(&blocks, 0);
  before.Ask();
  EXPECT_EQ(after.Ask(), Kind::kBlock);
  EXPECT_EQ(after.held, before.held);
}

TEST(InputBlocksTest, ALateWorkerFindsIterationsComplete) {
  InputBlocks blocks({});
  blocks.Describe("a", Blocks(3));
  Reader a(&blocks, 0), late(&blocks, 1);
  for (const int64_t iteration : {0, 1, 2}) {
    while (a.Ask(iteration, true) == Kind::kBlock) {
    }
  }
  const BlockAnswer answer = blocks.Next(1, {.source = "a", .iteration = 1, .more_follow = true});
  EXPECT_EQ(answer.kind, Kind::kEnd);
  EXPECT_TRUE(answer.read_elsewhere);
  EXPECT_EQ(late.Ask(3, true), Kind::kBlock);
}

TEST(InputBlocksTest, IsRestoredExactly) {
  InputBlocks blocks({.seed = 9});
  blocks.Describe("a", Blocks(7));
  Reader a(&blocks, 0), b(&blocks, 1);
  for (int i = 0; i < 2; ++i) a.Ask(), b.Ask();
  InputBlocks restored({.seed = 1});  // the order is part of the state
  restored.Restore(blocks.Save());
  EXPECT_EQ(restored.Save(), blocks.Save());
  EXPECT_EQ(restored.holders(), (std::set<int>{0, 1}));
  Reader a2(&restored, 0), b2(&restored, 1);
  a2.held = a.held;
  b2.held = b.held;
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(a.Ask(), a2.Ask());
    EXPECT_EQ(a.held, a2.held);
    EXPECT_EQ(b.Ask(), b2.Ask());
    EXPECT_EQ(b.held, b2.held);
  }
  EXPECT_EQ(a.Ask(), Kind::kEnd);
}

TEST(InputBlocksTest, BelievesWorkersWhereItsStateIsOlder) {
  InputBlocks blocks({});
  blocks.Describe("a", Blocks(6));
  const std::string old = blocks.Save();
  Reader a(&blocks, 0);
  for (int i = 0; i < 3; ++i) a.Ask();
  InputBlocks restored({});
  restored.Restore(old);
  Reader a2(&restored, 0);
  a2.held = a.held;  // the worker lives on and goes on with its block
  std::vector<int64_t> numbers;
  while (a2.Ask() == Kind::kBlock) {
  }
  numbers = Numbers(a2.read);
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(numbers, (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));  // its own once
}

TEST(InputBlocksTest, RefusesDamagedStates) {
  InputBlocks blocks({});
  blocks.Describe("a", Blocks(3));
  Reader(&blocks, 0).Ask();
  const std::string bytes = blocks.Save();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_EQ(StatusOf([&] { InputBlocks({}).Restore(bytes.substr(0, size)); }).code(),
              Code::kDataLoss)
        << size;
  }
}

}  // namespace
}  // namespace sextant::dist

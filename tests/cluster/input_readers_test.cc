// Pipelines of several workers over one dist::InputBlocks, without a network: what each record of
// an epoch sees when a worker dies, and when all go on from a saved state.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/block_leases.h"
#include "sextant/data/iterator.h"
#include "sextant/data/sources.h"
#include "sextant/dist/input_blocks.h"
#include "sextant/formats/tfrecord.h"

namespace sextant {
namespace {

constexpr int kRecords = 1500;

class LocalBlocks final : public data::BlockLeases {
 public:
  LocalBlocks(dist::InputBlocks* blocks, int rank) : blocks_(blocks), rank_(rank) {}
  uint64_t BlockBytes(uint64_t) const override { return 1500; }
  std::optional<data::BlockLease> Next(const data::BlockSource& source,
                                       std::span<const data::BlockLease> read,
                                       std::span<const data::BlockLease> held,
                                       const data::BlockLease*,
                                       FunctionRef<std::vector<data::InputBlock>()> cut,
                                       CancellationToken*) override {
    BlockQuestion question{
        .source = source.name, .iteration = source.iteration, .more_follow = source.more_follow};
    for (const auto& lease : read) question.read.push_back({lease.iteration, lease.number});
    for (const auto& lease : held) question.held.push_back({lease.iteration, lease.number});
    for (;;) {
      const BlockAnswer answer = blocks_->Next(rank_, question);
      if (answer.kind == BlockAnswer::Kind::kDescribe) {
        std::vector<std::string> described;
        for (const data::InputBlock& block : cut()) described.push_back(data::EncodeBlock(block));
        blocks_->Describe(source.name, described);
        continue;
      }
      if (answer.kind == BlockAnswer::Kind::kWait) throw Error(Code::kUnavailable, "waits");
      if (answer.kind == BlockAnswer::Kind::kEnd) {
        if (answer.read_elsewhere) set_read_elsewhere();
        return std::nullopt;
      }
      return data::BlockLease{answer.id.iteration, answer.id.number,
                              data::DecodeBlock(answer.block)};
    }
  }
  void Report(const data::BlockSource&, std::span<const data::BlockLease>) override {}

 private:
  dist::InputBlocks* const blocks_;
  const int rank_;
};

class InputReadersTest : public testing::Test {
 protected:
  InputReadersTest() {
    int next = 0;
    for (const int count : {3, 1100, 397}) {
      std::string contents;
      for (int i = 0; i < count; ++i) {
        AppendTFRecord(&contents, std::to_string(next++) + std::string(i % 90, '.'));
      }
      files_.push_back("memory://input_readers_" + std::to_string(files_.size()));
      FileSystem::ForPath(files_.back()).WriteFileAtomically(files_.back(), contents);
    }
  }
  std::unique_ptr<data::Iterator> Worker(dist::InputBlocks* blocks, int rank, int64_t epochs = 1) {
    return data::ShareInput(data::TFRecordFiles(files_).Repeat(epochs),
                            {.leases = std::make_shared<LocalBlocks>(blocks, rank), .rank = rank})
        .MakeIterator();
  }
  // The number of the next record, -1 at the end, -2 when the worker waits for another one.
  static int Next(data::Iterator& worker) {
    data::Element element;
    try {
      if (!worker.Next(&element)) return -1;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kUnavailable) << e.what();
      return -2;
    }
    return std::stoi(element["record"].scalar<std::string>());
  }

  std::vector<std::string> files_;
};

TEST_F(InputReadersTest, EachRecordOncePerEpoch) {
  dist::InputBlocks blocks({.seed = 1});
  std::vector<std::unique_ptr<data::Iterator>> workers;
  for (int rank = 0; rank < 3; ++rank) workers.push_back(Worker(&blocks, rank, /*epochs=*/3));
  std::map<int, int> read;
  std::vector<int> counts(3);
  for (size_t turn = 0, ended = 0; ended < workers.size(); ++turn) {
    const size_t rank = turn % 5 < 3 ? turn % 5 : 0;  // worker 0 is faster
    if (!workers[rank]) continue;
    const int record = Next(*workers[rank]);
    if (record >= 0) {
      ++read[record];
      ++counts[rank];
    } else if (record == -1) {
      workers[rank].reset();
      ++ended;
    }
  }
  ASSERT_EQ(read.size(), kRecords);
  for (const auto& [record, times] : read) EXPECT_EQ(times, 3) << record;
  EXPECT_GT(counts[0], counts[1]);
}

TEST_F(InputReadersTest, OthersReadTheOpenBlocksOfADeadWorker) {
  for (const int dies_after : {1, 50, 333}) {
    dist::InputBlocks blocks({.seed = 2});
    std::vector<std::unique_ptr<data::Iterator>> workers;
    for (int rank = 0; rank < 3; ++rank) workers.push_back(Worker(&blocks, rank));
    std::map<int, std::vector<int>> readers;
    for (int i = 0; i < dies_after; ++i) {
      for (int rank = 0; rank < 3; ++rank) {
        readers[Next(*workers[static_cast<size_t>(rank)])].push_back(rank);
      }
    }
    workers[2].reset();
    bool returned = false;
    for (bool more = true; more;) {
      more = false;
      for (int rank = 0; rank < 2; ++rank) {
        const int record = Next(*workers[static_cast<size_t>(rank)]);
        if (record >= 0) readers[record].push_back(rank);
        if (record != -1) more = true;
        // Its lease ends only when the others wait for it.
        if (record == -2 && !std::exchange(returned, true)) blocks.Return(2);
      }
    }
    EXPECT_TRUE(returned);
    ASSERT_EQ(readers.size(), kRecords) << dies_after;
    int twice = 0;
    for (const auto& [record, ranks] : readers) {
      if (ranks.size() == 1) continue;
      ++twice;
      EXPECT_EQ(ranks.size(), 2u) << record;
      EXPECT_EQ(std::count(ranks.begin(), ranks.end(), 2), 1) << record;
    }
    EXPECT_LT(twice, 60) << "more than an open block";
  }
}

TEST_F(InputReadersTest, AllGoOnExactlyFromASavedState) {
  dist::InputBlocks blocks({.seed = 3});
  std::vector<std::unique_ptr<data::Iterator>> workers;
  for (int rank = 0; rank < 3; ++rank) workers.push_back(Worker(&blocks, rank));
  std::map<int, int> read;
  for (int i = 0; i < 200; ++i) {
    for (auto& worker : workers) ++read[Next(*worker)];
  }
  dist::InputBlocks restored({.seed = 4});
  restored.Restore(blocks.Save());
  std::vector<std::unique_ptr<data::Iterator>> again;
  for (int rank = 0; rank < 3; ++rank) {
    again.push_back(Worker(&restored, rank));
    again.back()->RestoreState(workers[static_cast<size_t>(rank)]->SaveState());
  }
  for (bool more = true; more;) {
    more = false;
    for (auto& worker : again) {
      const int record = Next(*worker);
      if (record >= 0) ++read[record];
      more |= record != -1;
    }
  }
  ASSERT_EQ(read.size(), kRecords);
  for (const auto& [record, times] : read) EXPECT_EQ(times, 1) << record;
}

}  // namespace
}  // namespace sextant

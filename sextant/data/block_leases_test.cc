#include "sextant/data/block_leases.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/data/source_test_helpers.h"
#include "sextant/data/sources.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/formats/tfrecord.h"

namespace sextant::data {
namespace {

constexpr int kProcesses = 3;

// Three files of uneven sizes; record i of all is i, padded so that there are many blocks.
std::vector<std::string> UnevenFiles(
    const std::string& name, const std::function<void(std::string*, const std::string&)>& add,
    const std::string& header = "") {
  std::vector<std::string> paths;
  int next = 0;
  for (const int count : {1, 900, 237}) {
    std::string contents = header;
    for (int i = 0; i < count; ++i) {
      std::string text = std::to_string(next++);
      text.append(static_cast<size_t>(60 + next % 7) - text.size(), ' ');
      add(&contents, text);
    }
    paths.push_back(
        WriteMemoryFile("blocks_" + name + "_" + std::to_string(paths.size()), contents));
  }
  return paths;
}

std::vector<int> NumbersOf(const Dataset& dataset, const std::string& field) {
  std::vector<int> numbers;
  for (const std::string& text : StringsOf(dataset, field)) numbers.push_back(std::stoi(text));
  return numbers;
}

Dataset Part(const Dataset& whole, int rank, uint64_t seed = 5) {
  return ShareInput(whole, {.leases = FixedBlocks(rank, kProcesses, seed), .rank = rank});
}

// Each element of `whole` is in one part, `times` times.
void ExpectSharedOut(const Dataset& whole, const std::string& field, int times = 1) {
  std::vector<int> all;
  for (int rank = 0; rank < kProcesses; ++rank) {
    const std::vector<int> part = NumbersOf(Part(whole, rank), field);
    EXPECT_GT(part.size(), 100u) << rank;
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<int> expected;
  for (int i = 0; i < 1138; ++i) expected.insert(expected.end(), static_cast<size_t>(times), i);
  EXPECT_EQ(all, expected);
}

void AddLine(std::string* contents, const std::string& text) { *contents += text + "\n"; }

TEST(BlockLeasesTest, SharesOutTFRecords) {
  const Dataset records = TFRecordFiles(UnevenFiles("records", AppendTFRecord));
  ExpectSharedOut(records, "record");
  ExpectSharedOut(records.Shuffle(100).Repeat(3).Batch(7), "record", 3);
}

TEST(BlockLeasesTest, SharesOutLines) {
  ExpectSharedOut(TextLines(UnevenFiles("lines", AddLine, "header\n"), {.skip = 1}), "line");
}

TEST(BlockLeasesTest, SharesOutRowsOfCsv) {
  // Line ends inside quotes are no ends of rows.
  const auto add = [](std::string* contents, const std::string& text) {
    *contents += text + ",\"first\nsecond\"\n";
  };
  const Dataset rows = Csv(UnevenFiles("csv", add, "number,text\n"),
                           {.columns = {{.name = "number"}, {.name = "text"}}, .header = true});
  ExpectSharedOut(rows, "number");
  ExpectSharedOut(rows.Batch(10), "number");
}

TEST(BlockLeasesTest, SharesOutRecordsOfOneLength) {
  const auto add = [](std::string* contents, const std::string& text) {
    *contents += text.substr(0, 60);
  };
  ExpectSharedOut(
      FixedLengthRecords(UnevenFiles("fixed", add, "HEAD"), {.record = 60, .header = 4}), "record");
}

TEST(BlockLeasesTest, SharesOutWholeFilesToInterleave) {
  const std::vector<std::string> files = UnevenFiles("interleave", AppendTFRecord);
  const Dataset records = Files(files).Interleave(
      [](const Element& e) { return TFRecordFiles({e["file"].scalar<std::string>()}); });
  std::vector<int> all;
  for (int rank = 0; rank < kProcesses; ++rank) {
    const std::vector<int> part = NumbersOf(Part(records, rank), "record");
    all.insert(all.end(), part.begin(), part.end());
  }
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, NumbersOf(TFRecordFiles(files), "record"));
}

TEST(BlockLeasesTest, TheOrderOfBlocksIsOfTheEpochAndTheSeed) {
  const Dataset records = TFRecordFiles(UnevenFiles("order", AppendTFRecord)).Repeat(2);
  const std::vector<int> twice = NumbersOf(Part(records, 1), "record");
  EXPECT_EQ(twice, NumbersOf(Part(records, 1), "record"));
  EXPECT_NE(twice, NumbersOf(Part(records, 1, /*seed=*/6), "record"));
  EXPECT_FALSE(std::equal(twice.begin(), twice.begin() + 100, twice.begin() + 379));
}

TEST(BlockLeasesTest, PartsAreSavedAndRestored) {
  const auto few = [](const std::string& name, const auto& add) {
    std::string contents;
    for (int i = 0; i < 200; ++i) {
      std::string text = std::to_string(i);
      text.resize(80, ' ');
      add(&contents, text);
    }
    return WriteMemoryFile(name, contents);
  };
  ExpectResumes(Part(TFRecordFiles({few("blocks_few1", AppendTFRecord)}).Repeat(2), 1));
  ExpectResumes(Part(TextLines({few("blocks_few2", AddLine)}).Batch(3), 2));
  ExpectResumes(Part(Csv({few("blocks_few3", AddLine)}, {.columns = {{.name = "n"}}}), 0));
}

TEST(BlockLeasesTest, AStateOfAllFilesDoesNotFitAPart) {
  const Dataset records = TFRecordFiles(UnevenFiles("other", AppendTFRecord));
  Element element;
  const auto whole = records.MakeIterator(), part = Part(records, 0).MakeIterator();
  whole->Next(&element);
  part->Next(&element);
  const std::string of_whole = whole->SaveState(), of_part = part->SaveState();
  EXPECT_NE(ErrorOf([&] {
              Part(records, 0).MakeIterator()->RestoreState(of_whole);
            }).find("shared out otherwise"),
            std::string::npos);
  EXPECT_NE(
      ErrorOf([&] { records.MakeIterator()->RestoreState(of_part); }).find("shared out otherwise"),
      std::string::npos);
}

// A worker that gets no block of an epoch goes on to the next.
TEST(BlockLeasesTest, FewerBlocksThanProcesses) {
  std::string contents;
  AppendTFRecord(&contents, "7");
  const Dataset records = TFRecordFiles({WriteMemoryFile("blocks_one", contents)});
  for (int rank = 0; rank < kProcesses; ++rank) {
    auto iterator = Part(records.Repeat(), rank).MakeIterator();
    Element element;
    const int64_t others = rank == 0 ? 5 : 0;
    for (int64_t i = 0; i < others; ++i) EXPECT_TRUE(iterator->Next(&element));
  }
}

TEST(BlockLeasesTest, WhatCannotBeCutIsReadWhole) {
  const std::vector<std::string> files = UnevenFiles("whole", AppendTFRecord);
  const Dataset records = TFRecordFiles(files);
  EXPECT_EQ(NumbersOf(Part(records.Shard(2, 1), 1), "record").size(), 569u);
  EXPECT_EQ(NumbersOf(Part(records.Take(1000), 1), "record").size(), 1000u);
  EXPECT_EQ(NumbersOf(Part(records.Cache(), 1), "record").size(), 1138u);
  EXPECT_EQ(AllOf(Part(Range(0, 10), 2)).size(), 10u);
  EXPECT_EQ(AllOf(Part(Zip({records, Range(0, 5)}), 2)).size(), 5u);
}

TEST(BlockLeasesTest, TheRankIsMixedIntoSeeds) {
  const Dataset shuffled = Range(0, 100).Shuffle(100, {.seed = 1});
  const Dataset random = Range(0, 10).Map([](const Element&, MapContext& context) {
    return Element{{"x", Tensor(static_cast<int64_t>(context.random.Next()[0]))}};
  });
  for (const Dataset& dataset : {shuffled, random}) {
    const auto of_rank = [&](int rank) {
      return AllOf(ShareInput(dataset, {.leases = {}, .rank = rank}));
    };
    ExpectSame(of_rank(0), AllOf(dataset));
    ExpectSame(of_rank(2), of_rank(2));
    EXPECT_FALSE(of_rank(1)[0].Identical(of_rank(0)[0]) && of_rank(1)[1].Identical(of_rank(0)[1]));
    EXPECT_FALSE(of_rank(2)[0].Identical(of_rank(1)[0]) && of_rank(2)[1].Identical(of_rank(1)[1]));
  }
}

TEST(BlockLeasesTest, BlocksAreBytes) {
  const InputBlock block{.file = 3, .path = "a/b", .begin = 7, .end = 99, .line = 12};
  EXPECT_EQ(DecodeBlock(EncodeBlock(block)), block);
  EXPECT_NE(ErrorOf([] { DecodeBlock("short"); }), "OK");
}

}  // namespace
}  // namespace sextant::data

// What nodes can do beyond giving elements reaches through those that pass elements on.
#include <gtest/gtest.h>

#include <fstream>
#include <functional>

#include "sextant/base/cancellation.h"
#include "sextant/base/coding.h"
#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"
#include "sextant/data/dataset_node.h"
#include "sextant/data/pipelines_for_testing.h"
#include "sextant/data/row_batch.h"
#include "sextant/data/sources.h"
#include "sextant/data/state.h"
#include "sextant/data/tensor_sources.h"

namespace sextant::data {
namespace {

struct PassThrough {
  const char* name;
  std::function<Dataset(const Dataset&)> make;
  bool defers;    // passes on work that is left to do
  bool seekable;  // passes on positions
};

// All transformations that give elements of their input unchanged.
std::vector<PassThrough> AllPassThrough() {
  return {
      {"Shuffle", [](const Dataset& d) { return d.Shuffle(3, {.seed = 1}); }, true, false},
      {"Repeat", [](const Dataset& d) { return d.Repeat(2); }, true, true},
      {"Take", [](const Dataset& d) { return d.Take(5); }, false, true},
      {"Skip", [](const Dataset& d) { return d.Skip(1); }, false, true},
      {"Shard", [](const Dataset& d) { return d.Shard(2, 1); }, false, true},
      {"Filter", [](const Dataset& d) { return d.Filter([](const Element&) { return true; }); },
       false, true},
      {"IgnoreErrors", [](const Dataset& d) { return d.IgnoreErrors(); }, false, true},
      {"Prefetch", [](const Dataset& d) { return d.Prefetch(); }, false, false},
  };
}

std::string LinesFile() {
  std::string path = testing::TempDir() + "capabilities_lines";
  std::ofstream file(path);
  for (int i = 0; i < 9; ++i) file << i << "," << i * 10 << "\n";
  return path;
}

Seekable* SeekableOf(const Dataset& dataset, std::unique_ptr<NodeIterator>* iterator) {
  *iterator = dataset.node()->MakeIterator({0, 0, std::make_shared<CancellationToken>()});
  return (*iterator)->seekable();
}

TEST(CapabilitiesTest, ReachThroughWhatPassesElementsOn) {
  const Dataset lines = TextLines({LinesFile()});
  const Dataset mapped = lines.Map([](Element e) { return e; }, {.parallel = 2});
  ASSERT_NE(lines.node()->row_format(), nullptr);
  ASSERT_NE(mapped.node()->deferred(), nullptr);
  std::unique_ptr<NodeIterator> iterator;
  ASSERT_NE(SeekableOf(lines, &iterator), nullptr);
  for (const PassThrough& pass : AllPassThrough()) {
    SCOPED_TRACE(pass.name);
    EXPECT_EQ(pass.make(lines).node()->row_format(), lines.node()->row_format());
    EXPECT_EQ(pass.make(lines).node()->deferred(), nullptr);
    const Dataset passed = pass.make(mapped);
    const DeferredWork* const work = passed.node()->deferred();
    EXPECT_EQ(work != nullptr, pass.defers);
    EXPECT_EQ(SeekableOf(pass.make(lines), &iterator) != nullptr, pass.seekable);
    if (work != nullptr) {
      EXPECT_EQ(work->parallelism(), 2);
    }
  }
}

TEST(CapabilitiesTest, WorkIsDeferredToWhoeverHasThreads) {
  const auto same = [](Element e) { return e; };
  const CsvFileOptions columns = {.columns = {{"a", DType::kInt64}, {"b", DType::kInt64}}};
  const Dataset lines = TextLines({LinesFile()});
  EXPECT_EQ(lines.Map(same).node()->deferred(), nullptr);
  EXPECT_EQ(lines.Map(same, {.parallel = 3}).Map(same).node()->deferred(), nullptr);
  // Of several limits the smallest holds.
  const auto limit = [](const Dataset& dataset) {
    return dataset.node()->deferred()->parallelism();
  };
  EXPECT_EQ(limit(lines.Map(same, {.parallel = 3}).Map(same, {.parallel = 2})), 2);
  EXPECT_EQ(limit(lines.Map(same, {.parallel = 2}).Map(same, {.parallel = kAutotune})), 2);
  EXPECT_EQ(limit(lines.Map(same, {.parallel = kAutotune}).Map(same, {.parallel = 2})), 2);
  EXPECT_EQ(limit(ParseCsv(lines, columns)), kAutotune);
  EXPECT_EQ(limit(ParseCsv(lines.Map(same, {.parallel = 2}), columns)), 2);
  // Lines alone go to the parser as columns; what a function made of them does not.
  EXPECT_EQ(ParseCsv(lines.Shuffle(4).Repeat(), columns).node()->deferred()->row_format(),
            lines.node()->row_format());
  EXPECT_EQ(ParseCsv(lines.Map(same), columns).node()->deferred()->row_format(), nullptr);
}

// States that say of each buffered element that it has no positions are still read.
TEST(CapabilitiesTest, ShuffleReadsStatesWithPositionsOfFinishedElements) {
  const Dataset dataset = Range(9).Shuffle(3, {.seed = 1});
  const auto state = [&](bool positions) {
    StateWriter writer;
    writer.PutBytes("pipeline", dataset.Fingerprint());
    writer.PutInt("entropy", 0);
    writer.PutInt("draws", 1);
    writer.PutInt("input_ended", 0);
    writer.PutInt("shuffle", 2);
    for (const char* at : {"\1", "\2"}) {
      writer.PutBytes("at", at);
      if (positions) writer.PutInt("positions", 0);
    }
    writer.PutInt("next", 3);
    std::string bytes = "SXDATA1\n";
    PutFixed32(&bytes, MaskedCrc32c(writer.bytes()));
    return bytes + writer.bytes();
  };
  const auto with = dataset.MakeIterator(), without = dataset.MakeIterator();
  with->RestoreState(state(true));
  without->RestoreState(state(false));
  const std::vector<std::string> rest = Rest(*with);
  EXPECT_EQ(rest.size(), 9u);  // eight elements and the end
  EXPECT_EQ(Rest(*without), rest);
}

}  // namespace
}  // namespace sextant::data

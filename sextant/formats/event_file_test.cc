// Event files: what is written when, reading while they grow, and damage.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/event_reader.h"
#include "sextant/formats/event_writer.h"
#include "sextant/formats/summary_values.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/event.pb.h"

namespace sextant {
namespace {

using proto::Event;

class EventFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fmt::format("memory://event_file_test_{}",
                          testing::UnitTest::GetInstance()->current_test_info()->name());
  }
  void TearDown() override {
    if (FileSystem::ForPath(folder_).Exists(folder_)) {
      FileSystem::ForPath(folder_).DeleteRecursively(folder_);
    }
  }
  // Files in memory are seen without a flush.
  void UseDisk() {
    folder_ = fmt::format("{}sextant_event_file_test_{}", testing::TempDir(), getpid());
  }
  EventWriterOptions Options() {
    return {.now = [this] { return now_; }};
  }
  std::vector<Event> ReadAll(const std::string& path) {
    std::vector<Event> events;
    EventReader reader(path);
    for (Event event; reader.Next(&event);) events.push_back(event);
    return events;
  }
  void WriteRaw(const std::string& path, std::string_view bytes) {
    FileSystem::ForPath(path).WriteFileAtomically(path, bytes);
  }

  std::string folder_;
  double now_ = 1500000000.25;
};

TEST_F(EventFileTest, WritesTensorFlowsBytes) {
  EventWriter writer(folder_, Options());
  const std::string name(BaseName(writer.path()));
  EXPECT_TRUE(name.starts_with("events.out.tfevents.1500000000.")) << name;
  EXPECT_TRUE(IsEventFileName(writer.path()));
  now_ = 1500000001;
  writer.AddScalar("loss", 0.5, 3);
  writer.Close();
  std::string record;
  TFRecordReader reader(writer.path());
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_EQ(record, std::string("\x09\0\0\0\xc0\x0b\x5a\xd6\x41\x1a\x0d"
                                "brain.Event:2",
                                24));
  ASSERT_TRUE(reader.Next(&record));
  EXPECT_EQ(record, std::string("\x09\0\0\x40\xc0\x0b\x5a\xd6\x41\x10\x03\x2a\x0d\x0a\x0b\x0a\x04"
                                "loss\x15\0\0\0\x3f",
                                26));
  EXPECT_FALSE(reader.Next(&record));
}

TEST_F(EventFileTest, FlushesTheFirstEventThenAfterTenOrTwoMinutes) {
  UseDisk();
  EventWriter writer(folder_, Options());
  EXPECT_EQ(ReadAll(writer.path()).size(), 1u);
  for (int i = 0; i < 11; ++i) {
    EXPECT_EQ(FileSystem::ForPath(folder_).Stat(writer.path()).size, 40u) << i;
    writer.AddScalar("a", 1, i);
  }
  EXPECT_EQ(ReadAll(writer.path()).size(), 12u);
  writer.AddScalar("a", 1, 11);
  now_ += 121;
  writer.AddScalar("a", 1, 12);
  EXPECT_EQ(ReadAll(writer.path()).size(), 14u);
  writer.AddScalar("a", 1, 13);
  writer.Flush();
  EXPECT_EQ(ReadAll(writer.path()).size(), 15u);
}

TEST_F(EventFileTest, EveryWriterHasAFileOfItsOwn) {
  EventWriter first(folder_, Options());
  EventWriter second(folder_, Options());
  EXPECT_NE(first.path(), second.path());
  EXPECT_LT(first.path(), second.path());
  const std::string closed = first.path();
  first.Reopen();
  EXPECT_EQ(first.path(), closed);
  first.Close();
  EXPECT_THROW(first.AddScalar("a", 1, 1), Error);
  now_ += 1;
  first.Reopen();
  EXPECT_NE(first.path(), closed);
  first.AddScalar("a", 1, 1);
  first.Close();
  EXPECT_EQ(ReadAll(first.path()).size(), 2u);
  EXPECT_EQ(ReadAll(closed).size(), 1u);
}

// TensorBoard never goes back to a file that sorts before one it has read.
TEST_F(EventFileTest, NamesAreInTheOrderOfWritingWhateverTheClockSays) {
  std::vector<std::string> paths;
  for (int i = 0; i < 12; ++i) paths.push_back(EventWriter(folder_, Options()).path());
  now_ -= 3600;
  paths.push_back(EventWriter(folder_, Options()).path());
  now_ += 7200;
  paths.push_back(EventWriter(folder_, Options()).path());
  EXPECT_TRUE(std::is_sorted(paths.begin(), paths.end()));
  EXPECT_EQ(std::set(paths.begin(), paths.end()).size(), 14u);
  EXPECT_TRUE(BaseName(paths[13]).starts_with("events.out.tfevents.1500003600."));
}

TEST_F(EventFileTest, FlushesWhenTheClockWasSetBack) {
  UseDisk();
  EventWriter writer(folder_, Options());
  now_ -= 3600;
  writer.AddScalar("a", 1, 1);
  EXPECT_EQ(ReadAll(writer.path()).size(), 2u);
}

TEST_F(EventFileTest, MetadataOfATagIsWrittenOnce) {
  EventWriter writer(folder_, Options());
  for (int step = 0; step < 2; ++step) {
    proto::Summary summary;
    AddText(&summary, "note", Tensor("text"));
    AddScalar(&summary, "loss", 1, SummaryForm::kPlugin);
    writer.AddSerializedSummary(summary.SerializeAsString(), step);
  }
  writer.Close();
  const auto events = ReadAll(writer.path());
  ASSERT_EQ(events.size(), 3u);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(events[1].summary().value(i).has_metadata());
    EXPECT_FALSE(events[2].summary().value(i).has_metadata());
  }
  EXPECT_EQ(events[1].summary().value(0).metadata().plugin_data().plugin_name(), "text");
  EXPECT_THROW(writer.AddSerializedSummary("\xff", 3), Error);
}

TEST_F(EventFileTest, WritesGraphsRunMetadataAndSessionLogs) {
  EventWriter writer(folder_, Options());
  writer.AddGraph("graph");
  writer.AddMetaGraph("meta graph");
  writer.AddSessionStart(5);
  writer.AddRunMetadata("step 5", "metadata", 5);
  try {
    writer.AddRunMetadata("step 5", "metadata", 6);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
  }
  writer.AddSessionCheckpoint("dir/model.ckpt", 7);
  writer.AddSessionStop(8);
  writer.Close();
  const auto events = ReadAll(writer.path());
  ASSERT_EQ(events.size(), 7u);
  EXPECT_EQ(events[1].graph_def(), "graph");
  EXPECT_EQ(events[2].meta_graph_def(), "meta graph");
  EXPECT_EQ(events[3].session_log().status(), proto::SessionLog::START);
  EXPECT_EQ(events[4].tagged_run_metadata().tag(), "step 5");
  EXPECT_EQ(events[5].session_log().checkpoint_path(), "dir/model.ckpt");
  EXPECT_EQ(events[6].session_log().status(), proto::SessionLog::STOP);
  EXPECT_EQ(events[6].step(), 8);
  EXPECT_EQ(events[6].wall_time(), now_);
}

TEST_F(EventFileTest, ReadsAFileWhileItGrows) {
  UseDisk();
  EventWriter writer(folder_, Options());
  EventReader reader(writer.path());
  reader.Follow();
  Event event;
  EXPECT_TRUE(reader.Next(&event));
  EXPECT_FALSE(reader.Next(&event));
  writer.AddScalar("a", 1, 7);
  EXPECT_FALSE(reader.Next(&event));
  writer.Flush();
  EXPECT_TRUE(reader.Next(&event));
  EXPECT_EQ(event.step(), 7);
  EXPECT_FALSE(reader.Next(&event));
}

TEST_F(EventFileTest, ThreadsMayWriteAtOnce) {
  EventWriter writer(folder_);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&writer, t] {
      for (int i = 0; i < 100; ++i) writer.AddScalar(fmt::format("tag {}", t), 1, i);
    });
  }
  for (std::thread& thread : threads) thread.join();
  writer.Close();
  EXPECT_EQ(ReadAll(writer.path()).size(), 401u);
}

TEST_F(EventFileTest, EveryDamageGivesAPrefixOfEventsOrDataLoss) {
  std::string path;
  {
    EventWriter writer(folder_, Options());
    writer.AddScalar("loss", 0.5, 1);
    writer.AddSessionStop(2);
    path = writer.path();
  }
  const std::string whole = FileSystem::ForPath(path).ReadFile(path);
  const auto expected = ReadAll(path);
  ASSERT_EQ(expected.size(), 3u);
  const auto check = [&](std::string_view bytes) {
    WriteRaw(path, bytes);
    EventReader reader(path);
    size_t count = 0;
    try {
      for (Event event; reader.Next(&event); ++count) {
        ASSERT_LT(count, expected.size());
        EXPECT_EQ(event.SerializeAsString(), expected[count].SerializeAsString());
      }
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kDataLoss);
      EXPECT_TRUE(e.message().starts_with(path + ": ")) << e.message();
      EXPECT_NE(e.message().find("record at "), std::string::npos) << e.message();
    }
  };
  for (size_t size = 0; size < whole.size(); ++size) check(whole.substr(0, size));
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    check(damaged);
  }
}

TEST_F(EventFileTest, ARecordThatIsNoEventIsDataLoss) {
  const std::string path = folder_ + ".tfevents";
  std::string bytes;
  AppendTFRecord(&bytes, "");
  AppendTFRecord(&bytes, "\xff\xff");
  WriteRaw(path, bytes);
  EventReader reader(path);
  Event event;
  EXPECT_TRUE(reader.Next(&event));
  try {
    reader.Next(&event);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kDataLoss);
    EXPECT_EQ(e.message(), path + ": the record at 16 holds 2 bytes that are not an Event");
  }
}

}  // namespace
}  // namespace sextant

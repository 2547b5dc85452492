#include "sextant/formats/checkpoint_state.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/checkpoint_retention.h"

namespace sextant {
namespace {

using Strings = std::vector<std::string>;

std::string TestDirectory() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  return fmt::format("memory://checkpoint_state/{}", info->name());
}

TEST(CheckpointStateTest, HasTheTextThatTensorFlowWrites) {
  const CheckpointState state{"model.ckpt-200", {"model.ckpt-100", "model.ckpt-200"}};
  const std::string text =
      "model_checkpoint_path: \"model.ckpt-200\"\n"
      "all_model_checkpoint_paths: \"model.ckpt-100\"\n"
      "all_model_checkpoint_paths: \"model.ckpt-200\"\n";
  EXPECT_EQ(CheckpointStateText(state), text);
  const CheckpointState parsed = ParseCheckpointState(text);
  EXPECT_EQ(parsed.latest, state.latest);
  EXPECT_EQ(parsed.all, state.all);
  EXPECT_TRUE(parsed.timestamps.empty());
  EXPECT_FALSE(parsed.last_preserved);
}

TEST(CheckpointStateTest, KeepsTimes) {
  const std::string text =
      CheckpointStateText({"b", {"a", "b"}, {1500000000.25, 1500000001.5}, 1500000000.75});
  const CheckpointState parsed = ParseCheckpointState(text);
  EXPECT_EQ(parsed.timestamps, (std::vector<double>{1500000000.25, 1500000001.5}));
  EXPECT_EQ(parsed.last_preserved, 1500000000.75);
  EXPECT_THROW(CheckpointStateText({"b", {"a", "b"}, {1.0}}), Error);
}

TEST(CheckpointStateTest, AddsTheLatestToAll) {
  EXPECT_EQ(ParseCheckpointState("model_checkpoint_path: 'x'").all, Strings{"x"});
  EXPECT_EQ(ParseCheckpointState("\xef\xbb\xbfmodel_checkpoint_path: 'x'").all, Strings{"x"});
  EXPECT_EQ(ParseCheckpointState(CheckpointStateText({"c", {"a"}})).all, (Strings{"a", "c"}));
}

TEST(CheckpointStateTest, NamesAreRelativeToTheDirectory) {
  const std::string directory = TestDirectory();
  const std::string prefix = directory + "/model.ckpt-1";
  FileSystem& files = FileSystem::ForPath(directory);
  files.CreateDirectories(directory);
  WriteCheckpointState(directory, {prefix, {prefix}});
  EXPECT_EQ(
      files.ReadFile(directory + "/checkpoint"),
      "model_checkpoint_path: \"model.ckpt-1\"\nall_model_checkpoint_paths: \"model.ckpt-1\"\n");
  EXPECT_EQ(ReadCheckpointState(directory)->latest, prefix);
  EXPECT_EQ(LatestCheckpoint(directory), std::nullopt);  // its files are not there
  files.WriteFileAtomically(prefix + ".index", "");
  EXPECT_EQ(LatestCheckpoint(directory), prefix);
  WriteCheckpointState(directory, {prefix, {prefix}}, {.relative_paths = false});
  EXPECT_EQ(ParseCheckpointState(files.ReadFile(directory + "/checkpoint")).latest, prefix);
  EXPECT_EQ(LatestCheckpoint(directory), prefix);
}

TEST(CheckpointStateTest, UnusableFilesAreNone) {
  const std::string directory = TestDirectory();
  FileSystem& files = FileSystem::ForPath(directory);
  files.CreateDirectories(directory);
  EXPECT_EQ(LatestCheckpoint(directory), std::nullopt);
  EXPECT_EQ(LatestCheckpoint(directory + "/nowhere"), std::nullopt);
  for (const char* text : {"", "model_checkpoint_path: \"\"", "no such thing",
                           "model_checkpoint_path: 5", "\xFF\xFE"}) {
    files.WriteFileAtomically(directory + "/checkpoint", text);
    EXPECT_FALSE(ReadCheckpointState(directory)) << text;
  }
}

TEST(CheckpointStateTest, DamageNeverCrashes) {
  const std::string text =
      CheckpointStateText({"model.ckpt-200", {"model.ckpt-100", "model.ckpt-200"}, {1.5, 2.5}, 7});
  const auto check = [](const std::string& damaged) {
    try {
      const CheckpointState state = ParseCheckpointState(damaged);
      EXPECT_EQ(state.all.back(), state.latest);
      EXPECT_LE(state.all.size(), 4u);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
    }
  };
  for (size_t size = 0; size <= text.size(); ++size) check(text.substr(0, size));
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string damaged = text;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    check(damaged);
  }
}

TEST(CheckpointStateTest, DeletesAllFilesOfACheckpointAndNoOther) {
  const std::string directory = TestDirectory();
  FileSystem& files = FileSystem::ForPath(directory);
  files.CreateDirectories(directory);
  for (const char* name : {"m-1.index", "m-1.data-00000-of-00002", "m-1.data-00001-of-00002",
                           "m-1.meta", "m-10.index", "m-10.data-00000-of-00001", "checkpoint"}) {
    files.WriteFileAtomically(directory + "/" + name, "x");
  }
  DeleteCheckpoint(directory + "/m-1");
  EXPECT_EQ(files.ListDirectory(directory),
            (Strings{"checkpoint", "m-10.data-00000-of-00001", "m-10.index"}));
  DeleteCheckpoint(directory + "/m-1");
}

TEST(CheckpointRetentionTest, KeepsTheNewest) {
  CheckpointRetention retention({.max_to_keep = 2}, 0);
  retention.Saved("a", 1);
  EXPECT_EQ(retention.NextToDelete(), std::nullopt);
  retention.Saved("b", 2);
  EXPECT_EQ(retention.NextToDelete(), std::nullopt);
  retention.Saved("c", 3);
  EXPECT_EQ(retention.kept(), (Strings{"b", "c"}));
  EXPECT_EQ(retention.NextToDelete(), "a");
  EXPECT_EQ(retention.NextToDelete(), std::nullopt);
  retention.Saved("b", 4);  // saved again: the newest
  EXPECT_EQ(retention.kept(), (Strings{"c", "b"}));
  EXPECT_EQ(retention.NextToDelete(), std::nullopt);
}

TEST(CheckpointRetentionTest, KeepsOneEverySoManyHours) {
  CheckpointRetention retention({.max_to_keep = 1, .keep_every_n_hours = 1}, 0);
  std::vector<std::string> deleted;
  for (int i = 1; i <= 10; ++i) {
    retention.Saved(std::to_string(i * 20), i * 20 * 60);  // every 20 minutes
    if (auto old = retention.NextToDelete()) deleted.push_back(*old);
  }
  // Kept for good: the first after 60 minutes and the first after 120.
  EXPECT_EQ(deleted, (Strings{"20", "40", "60", "100", "120", "160", "180"}));
}

TEST(CheckpointRetentionTest, ZeroKeepsEverythingAndListsTheNewest) {
  CheckpointRetention retention({.max_to_keep = 0}, 0);
  for (const char* name : {"a", "b", "c"}) {
    retention.Saved(name, 1);
    EXPECT_EQ(retention.kept(), Strings{name});
    EXPECT_EQ(retention.NextToDelete(), std::nullopt);
  }
}

TEST(CheckpointRetentionTest, GoesOnAfterARestart) {
  CheckpointRetention retention({.max_to_keep = 2}, 100);
  retention.Recover({{"a", 1}, {"b", 2}});
  retention.Saved("c", 101);
  EXPECT_EQ(retention.kept(), (Strings{"b", "c"}));
  EXPECT_EQ(retention.NextToDelete(), "a");
}

}  // namespace
}  // namespace sextant

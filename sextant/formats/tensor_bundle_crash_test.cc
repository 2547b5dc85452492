// A program that saves checkpoints may end at any moment: the one before must stay usable.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "sextant/base/error.h"
#include "sextant/base/faulty_file_system.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/formats/checkpoint_retention.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/formats/tensor_bundle_writer.h"

namespace sextant {
namespace {

Tensor Filled(int step, int64_t elements) {
  Tensor tensor(DType::kInt32, {elements});
  std::fill_n(tensor.data<int32_t>(), elements, step);
  return tensor;
}

std::string PrefixOf(const std::string& directory, int step) {
  return fmt::format("{}/model.ckpt-{}", directory, step);
}

void WriteStep(FileSystem& files, const std::string& prefix, int step, int64_t elements) {
  TensorBundleWriter writer(prefix, {.files = &files});
  writer.Add("a", Filled(step, elements));
  writer.Add("b", Tensor::Of<std::string>({std::to_string(step), "x"}));
  writer.AddSlice("w", {2 * elements}, TensorSlice({{0, elements}}), Filled(step, elements));
  writer.AddSlice("w", {2 * elements}, TensorSlice({{elements, elements}}), Filled(step, elements));
  writer.Finish();
}

// The step whose values the checkpoint holds, all of them; throws when it is not whole.
int StepOf(const std::string& prefix) {
  const TensorBundleReader reader(prefix);
  const int step = reader.Read("a").data<int32_t>()[0];
  for (const char* name : {"a", "w"}) {
    const Tensor values = reader.Read(name);
    for (const int32_t value : values.flat<int32_t>()) EXPECT_EQ(value, step);
  }
  EXPECT_EQ(reader.Read("b").data<std::string>()[0], std::to_string(step));
  return step;
}

// What a trainer does at each save.
void Save(FileSystem& files, const std::string& directory, int step, int64_t elements,
          CheckpointRetention& retention) {
  const std::string prefix = PrefixOf(directory, step);
  WriteStep(files, prefix, step, elements);
  retention.Saved(prefix, step);
  WriteCheckpointState(directory, {prefix, retention.kept()}, {.files = &files});
  if (const auto old = retention.NextToDelete()) DeleteCheckpoint(*old, &files);
}

// Runs `work` again and again on a file system that ends after 0, 1, 2 ... operations, and after 0,
// 1, 2 ... bytes; `check` sees what is left.
void CrashEverywhere(FileSystem& base, const std::function<void()>& prepare,
                     const std::function<void(FileSystem&)>& work,
                     const std::function<void(bool finished)>& check) {
  for (const bool by_bytes : {false, true}) {
    for (int limit = 0;; limit += by_bytes ? 7 : 1) {
      prepare();
      int count = 0;
      FaultyFileSystem* crashing = nullptr;
      FaultyFileSystem::Faults faults;
      if (by_bytes) {
        faults.crash_after_bytes = limit;
      } else {
        faults.before = [&](FaultyFileSystem::Operation, const std::string&) {
          if (count++ == limit) {
            crashing->Crash();
            throw Error(Code::kUnavailable, "the end");
          }
        };
      }
      FaultyFileSystem files(base, faults);
      crashing = &files;
      try {
        work(files);
      } catch (const Error& e) {
        ASSERT_EQ(e.code(), Code::kUnavailable) << e.message();
      }
      check(!files.crashed());
      if (testing::Test::HasFailure())
        FAIL() << "after " << limit << (by_bytes ? " bytes" : " operations");
      if (!files.crashed()) break;
    }
  }
}

TEST(TensorBundleCrashTest, TheCheckpointBeforeStaysUsable) {
  const std::string directory = "memory://bundle_crash/save";
  FileSystem& base = FileSystem::ForPath(directory);
  CrashEverywhere(
      base,
      [&] {
        if (base.Exists(directory)) base.DeleteRecursively(directory);
        base.CreateDirectories(directory);
        CheckpointRetention retention({.max_to_keep = 1}, 0);
        Save(base, directory, 1, 5, retention);
      },
      [&](FileSystem& files) {
        CheckpointRetention retention({.max_to_keep = 1}, 0);
        retention.Recover({{PrefixOf(directory, 1), 1}});
        Save(files, directory, 2, 5, retention);
      },
      [&](bool finished) {
        const std::optional<std::string> latest = LatestCheckpoint(directory);
        ASSERT_TRUE(latest);
        const int step = StepOf(*latest);
        EXPECT_EQ(*latest, PrefixOf(directory, step));
        if (finished) {
          EXPECT_EQ(step, 2);
          EXPECT_EQ(base.ListDirectory(directory).size(), 3u);  // state, index, data
        }
      });
}

TEST(TensorBundleCrashTest, ACheckpointMergedFromPartsIsWholeOrAbsent) {
  const std::string directory = "memory://bundle_crash/merge";
  const std::string parts[] = {directory + "/temp/part-00000-of-00002",
                               directory + "/temp/part-00001-of-00002"};
  FileSystem& base = FileSystem::ForPath(directory);
  CrashEverywhere(
      base,
      [&] {
        if (base.Exists(directory)) base.DeleteRecursively(directory);
        WriteStep(base, PrefixOf(directory, 1), 1, 5);
      },
      [&](FileSystem& files) {
        WriteStep(files, parts[0], 2, 5);
        TensorBundleWriter second(parts[1], {.files = &files});
        second.Add("c", Tensor(2));
        second.Finish();
        MergeTensorBundles(parts, PrefixOf(directory, 2), {.files = &files});
      },
      [&](bool finished) {
        EXPECT_EQ(StepOf(PrefixOf(directory, 1)), 1);
        if (!CheckpointExists(PrefixOf(directory, 2))) {
          EXPECT_FALSE(finished);
          return;
        }
        EXPECT_EQ(StepOf(PrefixOf(directory, 2)), 2);
        EXPECT_EQ(TensorBundleReader(PrefixOf(directory, 2)).Read("c").scalar<int32_t>(), 2);
      });
}

TEST(TensorBundleCrashTest, OverwritingGivesTheOldTheNewOrAnError) {
  const std::string directory = "memory://bundle_crash/overwrite";
  const std::string prefix = directory + "/model.ckpt";
  FileSystem& base = FileSystem::ForPath(directory);
  int lost = 0;
  CrashEverywhere(
      base,
      [&] {
        if (base.Exists(directory)) base.DeleteRecursively(directory);
        WriteStep(base, prefix, 1, 5);
      },
      [&](FileSystem& files) { WriteStep(files, prefix, 2, 5); },
      [&](bool finished) {
        try {
          const int step = StepOf(prefix);
          EXPECT_TRUE(step == 2 || (step == 1 && !finished));
        } catch (const Error& e) {
          EXPECT_EQ(e.code(), Code::kDataLoss);
          EXPECT_FALSE(finished);
          ++lost;
        }
      });
  EXPECT_LE(lost, 2);  // between the two renames
}

TEST(TensorBundleCrashTest, ErrorsOfTheDiskLeaveNothingBehind) {
  const std::string directory = "memory://bundle_crash/full";
  FileSystem& base = FileSystem::ForPath(directory);
  for (int failing = 0;; ++failing) {
    if (base.Exists(directory)) base.DeleteRecursively(directory);
    base.CreateDirectories(directory);
    int count = 0;
    FaultyFileSystem files(
        base, {.before = [&](FaultyFileSystem::Operation operation, const std::string& path) {
          if (operation != FaultyFileSystem::Operation::kDelete && count++ == failing) {
            throw ResourceExhausted("{}: the disk is full", path);
          }
        }});
    try {
      WriteStep(files, directory + "/m", 1, 5);
      break;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kResourceExhausted);
    }
    for (const std::string& name : base.ListDirectory(directory)) {
      EXPECT_EQ(name.find(".tmp-"), std::string::npos) << name << " after " << failing;
    }
  }
}

// The child saves until it is killed, and tells each finished save through the pipe.
[[noreturn]] void SaveForever(const std::string& directory, int first_step, int pipe) {
  FileSystem& files = FileSystem::ForPath(directory);
  CheckpointRetention retention({.max_to_keep = 2}, 0);
  if (const auto state = ReadCheckpointState(directory)) {
    std::vector<CheckpointRetention::Checkpoint> existing;
    for (const std::string& prefix : state->all) existing.push_back({prefix, 0});
    retention.Recover(existing);
  }
  for (int step = first_step;; ++step) {
    Save(files, directory, step, 20000, retention);
    if (write(pipe, &step, sizeof(step)) != sizeof(step)) _exit(1);
  }
}

TEST(TensorBundleCrashTest, KilledProcessesLeaveAUsableCheckpoint) {
  const TemporaryDirectory temporary;
  const std::string& directory = temporary.path();
  int last = 0;
  for (int round = 0; round < 25; ++round) {
    int ends[2];
    ASSERT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      SaveForever(directory, last + 1, ends[1]);
    }
    ASSERT_GT(child, 0);
    close(ends[1]);
    int done = 0;
    for (int i = 0; i < 2; ++i)
      ASSERT_EQ(read(ends[0], &done, sizeof(done)), static_cast<ssize_t>(sizeof(done)));
    // Somewhere within the next save or two.
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(round * 173);
    while (std::chrono::steady_clock::now() < until) {
    }
    kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    while (read(ends[0], &done, sizeof(done)) > 0) {
    }
    close(ends[0]);
    const std::optional<std::string> latest = LatestCheckpoint(directory);
    ASSERT_TRUE(latest);
    last = StepOf(*latest);
    EXPECT_EQ(*latest, PrefixOf(directory, last));
    EXPECT_GE(last, done);
  }
  // The next save removes what those killed in the middle of one have left.
  FileSystem& files = FileSystem::ForPath(directory);
  CheckpointRetention retention({.max_to_keep = 2}, 0);
  Save(files, directory, last + 1, 20000, retention);
  for (const std::string& name : files.ListDirectory(directory)) {
    EXPECT_EQ(name.find(".tmp-"), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace sextant

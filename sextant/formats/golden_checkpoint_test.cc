// Checkpoints written by TensorFlow: ours of the same tensors have the same bytes.
#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/base/file_system.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/formats/tensor_bundle_writer.h"

namespace sextant {
namespace {

const std::string kGoldenFolder = SEXTANT_SOURCE_DIR "/../shared/golden";

// The prefixes of all checkpoints below a directory.
void FindCheckpoints(FileSystem& files, const std::string& directory,
                     std::vector<std::string>* prefixes) {
  for (const std::string& name : files.ListDirectory(directory)) {
    const std::string path = JoinPath(directory, name);
    if (files.Stat(path).is_directory) {
      FindCheckpoints(files, path, prefixes);
    } else if (path.ends_with(".index")) {
      prefixes->push_back(path.substr(0, path.size() - 6));
    }
  }
}

// Writes the tensors of one shard in the order in which they lie in its file.
void CopyShard(const TensorBundleReader& reader, int shard, FileSystem& files,
               const std::string& prefix) {
  std::vector<TensorBundleReader::Location> locations = reader.Locations();
  std::stable_sort(locations.begin(), locations.end(),
                   [](const auto& a, const auto& b) { return a.offset < b.offset; });
  TensorBundleWriter writer(prefix, {.files = &files});
  for (const auto& location : locations) {
    if (location.shard != shard) continue;
    if (location.slice.full()) {
      writer.Add(location.name, reader.Read(location.name));
    } else {
      writer.AddSlice(location.name, reader.Info(location.name).shape, location.slice,
                      reader.ReadSlice(location.name, location.slice));
    }
  }
  writer.Finish();
}

TEST(GoldenCheckpointTest, OursHaveTheBytesOfTensorFlows) {
  FileSystem& disk = FileSystem::ForPath(kGoldenFolder);
  if (!disk.Exists(kGoldenFolder)) GTEST_SKIP() << "the golden files are not at " << kGoldenFolder;
  std::vector<std::string> prefixes;
  FindCheckpoints(disk, kGoldenFolder, &prefixes);
  ASSERT_GE(prefixes.size(), 20u);
  for (const std::string& prefix : prefixes) {
    const TensorBundleReader reader(prefix);
    const int shards = reader.num_shards();
    MemoryFileSystem files;
    std::vector<std::string> parts;
    for (int shard = 0; shard < shards; ++shard) {
      parts.push_back(fmt::format("temp/part-{:05}-of-{:05}", shard, shards));
      CopyShard(reader, shard, files, parts.back());
    }
    MergeTensorBundles(parts, "copy", {.files = &files});
    EXPECT_TRUE(files.ReadFile("copy.index") == disk.ReadFile(BundleIndexPath(prefix))) << prefix;
    for (int shard = 0; shard < shards; ++shard) {
      EXPECT_TRUE(files.ReadFile(BundleDataPath("copy", shard, shards)) ==
                  disk.ReadFile(BundleDataPath(prefix, shard, shards)))
          << prefix << " " << shard;
    }
  }
}

TEST(GoldenCheckpointTest, ReadsTheStateOfATrainingRun) {
  const std::string directory = kGoldenFolder + "/checkpoint/training_run";
  FileSystem& disk = FileSystem::ForPath(directory);
  if (!disk.Exists(directory)) GTEST_SKIP() << "the golden files are not at " << kGoldenFolder;
  EXPECT_EQ(LatestCheckpoint(directory), directory + "/model.ckpt-60");
  const std::string text = disk.ReadFile(directory + "/checkpoint");
  EXPECT_EQ(CheckpointStateText(ParseCheckpointState(text)), text);
}

}  // namespace
}  // namespace sextant

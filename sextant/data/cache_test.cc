#include <gtest/gtest.h>
#include <unistd.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/pipelines_for_testing.h"
#include "sextant/data/tensor_sources.h"

namespace sextant::data {
namespace {

using Ints = std::vector<int64_t>;

class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string folder = testing::TempDir();
    path_ = JoinPath(folder, fmt::format("cache_{}", getpid()));
  }
  void TearDown() override {
    if (files().Exists(path_)) files().Delete(path_);
  }
  FileSystem& files() { return FileSystem::ForPath(path_); }
  // Range(count), counting the elements made.
  Dataset Counted(int64_t count) {
    return Range(count).Map([this](Element e) {
      ++made_;
      return e;
    });
  }

  std::string path_;
  int made_ = 0;
};

TEST_F(CacheTest, MemoryIsFilledOnceForAllIterators) {
  const Dataset cached = Counted(3).Cache();
  EXPECT_EQ(Values(cached.Repeat(2)), (Ints{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(Values(cached), (Ints{0, 1, 2}));
  EXPECT_EQ(made_, 3);
}

TEST_F(CacheTest, IterationsThatDoNotComeToTheirEndKeepNothing) {
  const Dataset cached = Counted(5).Cache();
  EXPECT_EQ(Values(cached.Take(2).Repeat(2)), (Ints{0, 1, 0, 1}));
  EXPECT_EQ(made_, 4);
  EXPECT_EQ(Values(cached).size(), 5u);
  EXPECT_EQ(made_, 9);
}

TEST_F(CacheTest, FilesServeLaterDatasets) {
  EXPECT_EQ(Values(Counted(3).Cache(path_).Repeat(2)), (Ints{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(Values(Counted(3).Cache(path_)), (Ints{0, 1, 2}));
  EXPECT_EQ(made_, 3);
}

TEST_F(CacheTest, HalfWrittenFilesAreNotUsed) {
  const Dataset cached = Counted(5).Cache(path_);
  {
    const auto iterator = cached.MakeIterator();
    NextText(*iterator);
    NextText(*iterator);
  }
  EXPECT_FALSE(files().Exists(path_));
  EXPECT_EQ(Values(cached).size(), 5u);
}

TEST_F(CacheTest, RefusesFilesOfOtherPipelinesAndDamagedOnes) {
  Values(Range(3).Cache(path_));
  EXPECT_EQ(ElementTexts(Range(4).Cache(path_), 1)[0],
            "error: FAILED_PRECONDITION: " + path_ +
                ": it holds the elements of the dataset Range(0,3,1), not of Range(0,4,1); delete "
                "it to have it made anew");
  const std::string whole = files().ReadFile(path_);
  files().WriteFileAtomically(path_, whole.substr(0, whole.size() - 1));
  const auto damaged = ElementTexts(Range(3).Cache(path_), 10);
  EXPECT_TRUE(damaged[2].starts_with("error: DATA_LOSS: " + path_)) << damaged[2];
}

TEST_F(CacheTest, ResumesFromTheFileOfAnotherProcess) {
  const Dataset cached = Counted(4).Shuffle(4).Cache(path_);
  const auto iterator = cached.Repeat(2).MakeIterator();
  for (int i = 0; i < 5; ++i) NextText(*iterator);
  const std::string state = iterator->SaveState();
  const auto expected = Rest(*iterator);
  const auto restored = Counted(4).Shuffle(4).Cache(path_).Repeat(2).MakeIterator();
  restored->RestoreState(state);
  EXPECT_EQ(Rest(*restored), expected);
  EXPECT_EQ(made_, 4);
}

}  // namespace
}  // namespace sextant::data

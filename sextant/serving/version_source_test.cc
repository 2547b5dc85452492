#include "sextant/serving/version_source.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/serving/small_model_test_helpers.h"

namespace sextant::serving {
namespace {

namespace fs = std::filesystem;

class VersionSourceTest : public testing::Test {
 protected:
  std::vector<int64_t> Poll(VersionSource& source, const VersionPolicy& policy = {}) {
    std::vector<int64_t> versions;
    for (const SavedModelVersion& found : source.Poll(policy)) versions.push_back(found.version);
    return versions;
  }
  std::string Path(const std::string& name) const { return JoinPath(directory_.path(), name); }
  using Versions = std::vector<int64_t>;

  const TemporaryDirectory directory_;
};

TEST_F(VersionSourceTest, FollowsThePolicy) {
  for (const int64_t version : {1, 2, 10}) ExportSmallModel(directory_.path(), version);
  VersionSource source(directory_.path());
  EXPECT_EQ(Poll(source), Versions{10});
  EXPECT_EQ(Poll(source, {.latest = 2}), (Versions{2, 10}));
  EXPECT_EQ(Poll(source, {.kind = VersionPolicy::Kind::kAll}), (Versions{1, 2, 10}));
  EXPECT_EQ(Poll(source, {.kind = VersionPolicy::Kind::kSpecific, .versions = {1, 7}}),
            Versions{1});
}

TEST_F(VersionSourceTest, PassesOverWhatIsNoVersion) {
  ExportSmallModel(directory_.path(), 3);
  for (const char* name : {"-1", "temp-4", "4.5", "99999999999999999999", "6"}) {
    fs::create_directory(Path(name));  // "6" is empty
  }
  FileSystem::ForPath("/").WriteFileAtomically(Path("5"), "a file");
  fs::create_symlink(Path("nowhere"), Path("8"));
  fs::copy(Path("3"), Path("7"), fs::copy_options::recursive);
  fs::remove(Path("7/variables/variables.index"));
  fs::rename(ExportSmallModel(Path("other"), 1), Path("0009"));
  MakeOld(Path("0009"));
  VersionSource source(directory_.path());
  EXPECT_EQ(Poll(source, {.kind = VersionPolicy::Kind::kAll}), (Versions{3, 9}));
}

TEST_F(VersionSourceTest, WaitsForCopiesToEnd) {
  const std::string source_path = ExportSmallModel(Path("other"), 1);
  VersionSource source(directory_.path(), std::chrono::hours(2));
  fs::copy(source_path, Path("1"), fs::copy_options::recursive);
  EXPECT_EQ(Poll(source), Versions{});
  EXPECT_TRUE(source.unsettled());
  FileSystem::ForPath("/").WriteFileAtomically(Path("1/more"), "still coming");
  EXPECT_EQ(Poll(source), Versions{});
  EXPECT_EQ(Poll(source), Versions{1});
  EXPECT_FALSE(source.unsettled());
}

}  // namespace
}  // namespace sextant::serving

#include "sextant/base/temporary_directory.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant {
namespace {

// Sets TMPDIR, and what it was before when the object goes.
class TmpDir {
 public:
  explicit TmpDir(const std::string& path) {
    const char* before = std::getenv("TMPDIR");
    if (before != nullptr) before_ = before;
    setenv("TMPDIR", path.c_str(), 1);
  }
  ~TmpDir() {
    if (before_.empty()) {
      unsetenv("TMPDIR");
    } else {
      setenv("TMPDIR", before_.c_str(), 1);
    }
  }

 private:
  std::string before_;
};

TEST(TemporaryDirectoryTest, IsNewAndWhereItShouldBeAndGoesWithItsObject) {
  const TemporaryDirectory outer;
  FileSystem& files = FileSystem::ForPath(outer.path());
  const TmpDir inside(outer.path());
  {
    const TemporaryDirectory first, second;
    EXPECT_NE(first.path(), second.path());
    EXPECT_TRUE(first.path().starts_with(outer.path() + "/"));
    files.WriteFileAtomically(first.path() + "/file", "content");
    EXPECT_EQ(files.ListDirectory(outer.path()).size(), 2u);
  }
  EXPECT_TRUE(files.ListDirectory(outer.path()).empty());
  const std::string chosen = outer.path() + "/chosen";
  files.CreateDirectories(chosen);
  EXPECT_TRUE(TemporaryDirectory(chosen).path().starts_with(chosen + "/"));
}

TEST(TemporaryDirectoryTest, SaysWhereItCannotBeMade) {
  const TemporaryDirectory outer;
  const TmpDir absent(outer.path() + "/absent");
  try {
    NewTemporaryDirectory();
    ADD_FAILURE() << "made";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kFailedPrecondition);
    EXPECT_NE(error.message().find(outer.path() + "/absent"), std::string::npos);
  }
}

}  // namespace
}  // namespace sextant

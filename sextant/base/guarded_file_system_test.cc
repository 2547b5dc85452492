#include "sextant/base/guarded_file_system.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "sextant/base/error.h"
#include "sextant/base/posix_file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

TEST(GuardedFileSystemTest, OpensOnlyWhatLiesInTheDirectories) {
  const TemporaryDirectory inside, outside;
  const auto plain = NewPosixFileSystem();
  plain->WriteFileAtomically(inside.path() + "/a", "in");
  plain->WriteFileAtomically(outside.path() + "/b", "out");
  plain->CreateDirectories(inside.path() + "x");  // its name begins as that of the directory
  plain->WriteFileAtomically(inside.path() + "x/c", "beside");
  std::filesystem::create_symlink(outside.path() + "/b", inside.path() + "/link");

  const auto guarded = NewGuardedFileSystem(NewPosixFileSystem(), {inside.path() + "/"});
  EXPECT_EQ(guarded->ReadFile(inside.path() + "/a"), "in");
  EXPECT_EQ(guarded->ReadFile("file://" + inside.path() + "/a"), "in");
  guarded->CreateDirectories(inside.path() + "/new");
  guarded->WriteFileAtomically(inside.path() + "/new/../d", "new");
  EXPECT_EQ(guarded->ListDirectory(inside.path()).size(), 4u);
  const auto denied = [](const Status& status) {
    EXPECT_EQ(status.code(), Code::kPermissionDenied) << status.message();
  };
  for (const std::string& path : {outside.path() + "/b", inside.path() + "/link",
                                  inside.path() + "x/c", inside.path() + "/../etc"}) {
    denied(StatusOf([&] { guarded->ReadFile(path); }));
    denied(StatusOf([&] { guarded->NewWriter(path); }));
    denied(StatusOf([&] { guarded->Delete(path); }));
    denied(StatusOf([&] { guarded->Rename(inside.path() + "/a", path); }));
    denied(StatusOf([&] { guarded->ListDirectory(path); }));
  }
  plain->DeleteRecursively(inside.path() + "x");
  const auto nowhere = NewGuardedFileSystem(NewPosixFileSystem(), {});
  denied(StatusOf([&] { nowhere->ReadFile(inside.path() + "/a"); }));
}

// One link that leads out does not spoil a pattern that others match.
TEST(GuardedFileSystemTest, MatchesLeaveOutWhatMayNotBeOpened) {
  const TemporaryDirectory inside, outside;
  const std::string in = inside.path(), out = outside.path();
  const auto plain = NewPosixFileSystem();
  plain->CreateDirectories(in + "/sub");
  for (const std::string& path : {in + "/a", in + "/sub/b", out + "/b", out + "/secret"})
    plain->WriteFileAtomically(path, "text");
  std::filesystem::create_symlink(out + "/secret", in + "/file");
  std::filesystem::create_symlink(out, in + "/directory");
  std::filesystem::create_symlink(out + "/b", in + "/sub/link");
  std::filesystem::create_symlink(in + "/loop", in + "/loop");
  std::filesystem::create_symlink(in + "/a", in + "/same");

  const auto guarded = NewGuardedFileSystem(NewPosixFileSystem(), {in});
  using Paths = std::vector<std::string>;
  EXPECT_EQ(guarded->Glob(in + "/*"), (Paths{in + "/a", in + "/same", in + "/sub"}));
  EXPECT_EQ(guarded->Glob(in + "/*/*"), (Paths{in + "/sub/b"}));
  EXPECT_EQ(guarded->Glob(in + "/*/b"), (Paths{in + "/sub/b"}));
  EXPECT_EQ(guarded->Glob(in + "/s*/link"), Paths());
  EXPECT_EQ(guarded->Glob(in + "/s*/../../" + std::string(BaseName(out)) + "/*"), Paths());
  // What the pattern itself names is refused.
  for (const std::string& pattern : {in + "/file", in + "/directory/*", out + "/*", in + "/../*",
                                     std::string(DirectoryName(in)) + "/*/a"}) {
    EXPECT_EQ(StatusOf([&] { guarded->Glob(pattern); }).code(), Code::kPermissionDenied) << pattern;
  }
  EXPECT_EQ(StatusOf([&] { guarded->ReadFile(in + "/file"); }).code(), Code::kPermissionDenied);
}

TEST(GuardedFileSystemTest, NothingIsMadeWhereALinkLeadsOut) {
  const TemporaryDirectory inside, outside;
  const std::string in = inside.path(), out = outside.path();
  std::filesystem::create_symlink(out + "/new", in + "/link");
  std::filesystem::create_symlink(in + "/link", in + "/twice");
  std::filesystem::create_symlink("new", in + "/stays");
  const auto guarded = NewGuardedFileSystem(NewPosixFileSystem(), {in});
  for (const char* name : {"/link", "/twice"}) {
    EXPECT_EQ(StatusOf([&] { guarded->NewWriter(in + name); }).code(), Code::kPermissionDenied);
  }
  EXPECT_FALSE(std::filesystem::exists(out + "/new"));
  EXPECT_EQ(StatusOf([&] { guarded->Stat(in + "/stays"); }).code(), Code::kNotFound);
  guarded->NewWriter(in + "/stays")->Close();
  EXPECT_TRUE(guarded->Exists(in + "/new"));
}

}  // namespace
}  // namespace sextant

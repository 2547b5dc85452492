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

}  // namespace
}  // namespace sextant

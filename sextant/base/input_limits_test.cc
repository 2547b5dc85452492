#include "sextant/base/input_limits.h"

#include <gtest/gtest.h>

#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST(InputLimitsTest, FollowAMemoryLimit) {
  EXPECT_EQ(InputLimits::Of(0).line, 64 * kMiB);
  const InputLimits small = InputLimits::Of(kMiB), large = InputLimits::Of(16384 * kMiB);
  for (const uint64_t limit : {small.file, small.stream, small.line, small.record, small.batch}) {
    EXPECT_EQ(limit, kMiB);
  }
  for (const uint64_t limit : {large.file, large.record, large.batch}) {
    EXPECT_EQ(limit, 16384 * kMiB);
  }
  EXPECT_EQ(large.stream, 2048 * kMiB);
  EXPECT_EQ(large.line, 512 * kMiB);
  // Where the default is within the limit it stays.
  EXPECT_EQ(InputLimits::Of(512 * kMiB).line, 64 * kMiB);
  EXPECT_EQ(InputLimits::Of(512 * kMiB).stream, 256 * kMiB);
}

TEST(InputLimitsTest, ScopesNestAndAreTheThreadsOwn) {
  const InputLimitsScope outer(2 * kMiB);
  {
    const InputLimitsScope inner(kMiB), none(0);
    EXPECT_EQ(InputLimits::Current().batch, kMiB);
    uint64_t elsewhere = 0;
    std::thread([&] { elsewhere = InputLimits::Current().batch; }).join();
    EXPECT_EQ(elsewhere, 2048 * kMiB);
  }
  EXPECT_EQ(InputLimits::Current().batch, 2 * kMiB);
}

TEST(InputLimitsTest, FilesReadWhole) {
  const InputLimitsScope scope(kMiB);
  FileSystem& files = FileSystem::ForPath("/");
  const std::string path = testing::TempDir() + "input_limits_test";
  files.WriteFileAtomically(path, std::string(kMiB, 'x'));
  EXPECT_EQ(files.ReadFile(path).size(), kMiB);
  files.WriteFileAtomically(path, std::string(kMiB + 1, 'x'));
  for (const std::string& too_long : {path, std::string("/dev/zero")}) {
    try {
      files.ReadFile(too_long);
      ADD_FAILURE() << too_long;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kResourceExhausted);
      EXPECT_NE(e.message().find("1048576"), std::string::npos) << e.what();
    }
  }
  files.Delete(path);
}

}  // namespace
}  // namespace sextant

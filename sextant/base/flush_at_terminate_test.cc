#include "sextant/base/flush_at_terminate.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/testing/sanitizers.h"

namespace sextant {
namespace {

// The main of a program whose output goes to a file or pipe.
void PrintAndThrow(const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(file, STDOUT_FILENO);
  setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
  std::printf("step 1\n");
  const FlushAtTerminate flush([] { fprintf(stderr, "flushed; "); });
  throw InvalidArgument("not caught");
}

TEST(FlushAtTerminateTest, AnUncaughtErrorLosesNoOutput) {
  if (kThreadSanitizer) GTEST_SKIP() << "a forked process starts no threads";
  const std::string path = testing::TempDir() + "flush_test_" + std::to_string(getpid());
  // Where nobody catches it: at the end of a thread.
  EXPECT_DEATH(std::thread(PrintAndThrow, path).join(), "flushed; .*sextant::Error");
  EXPECT_EQ(FileSystem::ForPath(path).ReadFile(path), "step 1\n");
  unlink(path.c_str());
}

}  // namespace
}  // namespace sextant

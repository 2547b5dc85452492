#include "sextant/base/cancellable_wait.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant {
namespace {

class PipeTest : public testing::Test {
 protected:
  PipeTest() : path_(testing::TempDir() + "pipe_test_" + std::to_string(getpid())) {
    unlink(path_.c_str());
    EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
  }
  ~PipeTest() override { unlink(path_.c_str()); }
  // What reading the pipe on another thread ends with.
  Status ReadCancelled(CancellationToken& token, std::string* got) {
    Status status;
    std::thread reader([&] {
      const CancellationScope scope(&token);
      try {
        *got = FileSystem::ForPath(path_).ReadFile(path_);
      } catch (const Error& e) {
        status = Status(e.code(), e.message());
      }
    });
    reader.join();
    return status;
  }
  const std::string path_;
};

TEST_F(PipeTest, APipeThatNobodyWritesToIsCancelled) {
  CancellationToken token;
  std::thread other([&] { token.Cancel(Status(Code::kCancelled, "enough")); });
  std::string got;
  const Status status = ReadCancelled(token, &got);
  other.join();
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_EQ(status.message(), "enough");
}

TEST_F(PipeTest, APipeWhoseWriterDeliversNothingMoreIsCancelled) {
  CancellationToken token;
  std::unique_ptr<FileWriter> writer;
  std::thread other([&] {
    writer = FileSystem::ForPath(path_).NewWriter(path_);  // until there is a reader
    writer->Append("some");
    writer->Flush();
    token.Cancel();
  });
  std::string got;
  const Status status = ReadCancelled(token, &got);
  other.join();
  EXPECT_EQ(status.code(), Code::kCancelled);
}

TEST_F(PipeTest, IsReadToItsEnd) {
  CancellationToken token;
  const std::string all(300'000, 'x');  // more than a pipe holds
  std::thread other([&] {
    const auto writer = FileSystem::ForPath(path_).NewWriter(path_);
    writer->Append(all);
    writer->Close();
  });
  std::string got;
  EXPECT_TRUE(ReadCancelled(token, &got).ok());
  other.join();
  EXPECT_TRUE(got == all);
}

TEST(CancellableWaitTest, SleepEndsEarlyWhenCancelled) {
  using Clock = std::chrono::steady_clock;
  CancellationToken token;
  EXPECT_NO_THROW(SleepUntil(Clock::now() + std::chrono::milliseconds(1), &token));
  EXPECT_NO_THROW(SleepUntil(Clock::now() + std::chrono::milliseconds(1), nullptr));
  std::thread other([&] { token.Cancel(); });
  EXPECT_THROW(SleepUntil(Clock::now() + std::chrono::hours(1), &token), Error);
  other.join();
}

TEST(CancellableWaitTest, TheInnermostScopeCounts) {
  CancellationToken outer, inner;
  EXPECT_EQ(CancellationScope::Current(), nullptr);
  {
    const CancellationScope of_outer(&outer);
    outer.Cancel();
    EXPECT_THROW(CancellationScope::ThrowIfCancelled(), Error);
    const CancellationScope of_inner(&inner);
    EXPECT_NO_THROW(CancellationScope::ThrowIfCancelled());
  }
  EXPECT_EQ(CancellationScope::Current(), nullptr);
}

}  // namespace
}  // namespace sextant

#include "sextant/estimator/model_dir_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "sextant/base/cancellation.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/testing/sanitizers.h"

namespace sextant {
namespace {

class ModelDirLockTest : public testing::Test {
 protected:
  ModelDirLockTest() : dir_(testing::TempDir() + "model_dir_lock_" + std::to_string(getpid())) {
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
    char name[256] = "";
    gethostname(name, sizeof(name) - 1);
    host_ = name;
  }
  ~ModelDirLockTest() override {
    if (child_ > 0) KillChild();
    std::filesystem::remove_all(dir_);
  }
  std::string path() const { return dir_ + "/" + ModelDirLock::kFilename; }
  static std::string Text(const std::string& host, pid_t process) {
    return fmt::format(R"({{"host":"{}","id":"x","process":{},"since":"then"}})", host, process);
  }
  void Write(const std::string& text) {
    FileSystem::ForPath(dir_).WriteFileAtomically(path(), text);
  }
  void SetAge(int seconds) {
    const timeval then = {time(nullptr) - seconds, 0};
    const timeval times[2] = {then, then};
    ASSERT_EQ(utimes(path().c_str(), times), 0);
  }
  // A process that has the kernel's lock and says that it is on this host.
  void StartHolder(const std::string& host) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    Write("");
    child_ = fork();
    if (child_ == 0) {
      const int file = open(path().c_str(), O_RDWR);
      if (flock(file, LOCK_EX) == 0 && write(ready[1], "x", 1) == 1) pause();
      _exit(1);
    }
    char byte;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    const std::string text = Text(host, child_);
    const int file = open(path().c_str(), O_WRONLY);
    ASSERT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(file);
  }
  void KillChild() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    child_ = -1;
  }
  std::string Refusal() const {
    try {
      const ModelDirLock lock(dir_);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kFailedPrecondition);
      return e.message();
    }
    return "";
  }
  const std::string dir_;
  std::string host_;
  pid_t child_ = -1;
};

TEST_F(ModelDirLockTest, IsReleasedAndLeavesNothing) {
  { const ModelDirLock lock(dir_); }
  EXPECT_TRUE(std::filesystem::is_empty(dir_));
  EXPECT_EQ(Refusal(), "");
}

TEST_F(ModelDirLockTest, TwoTrainingsOfOneProcess) {
  const ModelDirLock lock(dir_);
  EXPECT_EQ(Refusal(), dir_ +
                           " is being trained by this process already; wait for that training, "
                           "or train in another model_dir");
}

TEST_F(ModelDirLockTest, AnotherProcessIsNamedAndItsEndReleasesTheLock) {
  StartHolder(host_);
  EXPECT_EQ(Refusal(), fmt::format("{} is being trained by process {} on {} since then; wait for "
                                   "it, stop it, or train in another model_dir",
                                   dir_, child_, host_));
  SetAge(100000);  // the kernel knows that it lives
  EXPECT_NE(Refusal(), "");
  KillChild();
  EXPECT_EQ(Refusal(), "");
}

TEST_F(ModelDirLockTest, WhatAKilledProcessLeftIsTakenOver) {
  Write(Text(host_, 1));  // process 1 lives: its number means nothing
  EXPECT_EQ(Refusal(), "");
}

// Where the kernel's lock is not seen by other machines.
TEST_F(ModelDirLockTest, AnotherHostIsBelievedAsLongAsItGivesSigns) {
  Write(Text("faraway", 77));
  EXPECT_EQ(Refusal(), fmt::format("{} is being trained by process 77 on faraway since then; wait "
                                   "for it, or, if it is no more, 120 seconds",
                                   dir_));
  SetAge(200);
  EXPECT_EQ(Refusal(), "");
}

// A lock that was touched when the file server's clock was ahead.
TEST_F(ModelDirLockTest, ATimeInTheFutureIsNoSign) {
  const auto usual = std::exchange(ModelDirLock::beat, std::chrono::milliseconds(20));
  Write(Text("faraway", 77));
  SetAge(-100000);
  {
    const ModelDirLock lock(dir_);
    EXPECT_NE(FileSystem::ForPath(dir_).ReadFile(path()).find(host_), std::string::npos);
  }
  StartHolder("faraway");
  SetAge(-100000);
  EXPECT_EQ(Refusal(), "");
  // Its holder lives: the next beat is seen.
  ModelDirLock::beat = std::chrono::minutes(10);
  Write(Text("faraway", 77));
  SetAge(-100000);
  std::jthread holder([&](const std::stop_token& stop) {
    for (int i = 1; !stop.stop_requested(); ++i) SetAge(-100000 - i);
  });
  EXPECT_NE(Refusal().find("is being trained by process 77 on faraway"), std::string::npos);
  holder = {};
  // The wait can be cancelled.
  CancellationToken token;
  token.Cancel();
  EXPECT_THROW(ModelDirLock(dir_, &token), Error);
  ModelDirLock::beat = usual;
}

TEST_F(ModelDirLockTest, ATrainingIsSeenByTheSignsThatItGives) {
  TrainingWatch watch(dir_);
  EXPECT_FALSE(watch.InTraining());
  Write(Text("faraway", 77));
  EXPECT_TRUE(watch.InTraining());
  SetAge(200);
  EXPECT_FALSE(watch.InTraining());
  // The clock was set back since: who made the file may be no more.
  SetAge(-100000);
  EXPECT_TRUE(watch.InTraining());
  const auto usual = std::exchange(ModelDirLock::beat, std::chrono::milliseconds(0));
  EXPECT_FALSE(watch.InTraining());
  ModelDirLock::beat = usual;
  SetAge(-100020);
  EXPECT_TRUE(watch.InTraining());
}

// What a killed container left whose successor has another host name.
TEST_F(ModelDirLockTest, AnotherHostNameUnderTheSameKernelIsNotWaitedFor) {
  if (kThreadSanitizer) GTEST_SKIP() << "a forked process starts no threads";
  const pid_t killed = fork();
  if (killed == 0) {
    try {
      const ModelDirLock lock(dir_);
      kill(getpid(), SIGKILL);
    } catch (...) {
    }
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(killed, &status, 0), killed);
  ASSERT_TRUE(WIFSIGNALED(status));
  std::string text = FileSystem::ForPath(dir_).ReadFile(path());
  const std::string left = "\"" + host_ + "\"";
  ASSERT_NE(text.find(left), std::string::npos);
  text.replace(text.find(left), left.size(), "\"container\"");
  Write(text);
  EXPECT_EQ(Refusal(), "");

  const std::string kernel = "\"kernel\":\"";
  ASSERT_NE(text.find(kernel), std::string::npos);
  text.insert(text.find(kernel) + kernel.size(), "another ");
  Write(text);
  EXPECT_NE(Refusal(), "");
}

// A file server keeps the lock of a machine that is no more.
TEST_F(ModelDirLockTest, TheLockOfADeadHostIsTakenOver) {
  StartHolder("faraway");
  EXPECT_NE(Refusal(), "");
  SetAge(200);
  const ModelDirLock lock(dir_);
  EXPECT_NE(FileSystem::ForPath(dir_).ReadFile(path()).find(host_), std::string::npos);
}

TEST_F(ModelDirLockTest, AForkedChildDoesNotReleaseIt) {
  auto lock = std::make_unique<ModelDirLock>(dir_);
  const pid_t child = fork();
  if (child == 0) {
    lock.reset();
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(FileSystem::ForPath(dir_).Exists(path()));
  const int file = open(path().c_str(), O_RDWR);
  EXPECT_NE(flock(file, LOCK_EX | LOCK_NB), 0);
  close(file);
}

TEST_F(ModelDirLockTest, FilesInMemoryToo) {
  const ModelDirLock lock("memory://model_dir_lock_test");
  EXPECT_THROW(ModelDirLock("memory://model_dir_lock_test"), Error);
}

}  // namespace
}  // namespace sextant

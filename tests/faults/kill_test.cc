// kill -9 at random moments: a training that goes on ends as one that was never disturbed.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "sextant/formats/tensor_bundle_reader.h"
#include "tests/faults/run_history.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr const char* kSteps = "120";

class KillTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "kill_test_" + std::to_string(getpid());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override {
    if (!HasFailure()) fs::remove_all(root_);
  }

  pid_t Start(const std::string& name) const {
    const std::string model_dir = root_ + "/" + name;
    const pid_t child = fork();
    if (child != 0) return child;
    const int log = open((model_dir + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(log, 1);
    dup2(log, 2);
    execl(KILLABLE_TRAINING, KILLABLE_TRAINING, model_dir.c_str(), kSteps, nullptr);
    _exit(127);
  }
  // What waitpid says of the end.
  static int Wait(pid_t child) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }
  // Sends the signal that long after the start; whether the program was still running.
  static int EndAfter(pid_t child, double seconds, int signal) {
    const auto until = Clock::now() + std::chrono::duration<double>(seconds);
    int status = 0;
    while (Clock::now() < until) {
      if (waitpid(child, &status, WNOHANG) == child) return status;
      std::this_thread::yield();
    }
    kill(child, signal);
    return Wait(child);
  }
  static bool Finished(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

  void ExpectSame(const std::string& name) const {
    const auto whole = ReadCheckpoint(root_ + "/whole/model.ckpt-" + kSteps);
    const auto parts = ReadCheckpoint(root_ + "/" + name + "/model.ckpt-" + kSteps);
    EXPECT_EQ(whole.size(), parts.size());
    for (const auto& [variable, value] : whole) {
      if (variable == "sextant/run_state") continue;
      ASSERT_TRUE(parts.contains(variable)) << variable;
      EXPECT_TRUE(value.Identical(parts.at(variable))) << name << " " << variable;
    }
    const RunHistory want = ReadHistory(root_ + "/whole"), got = ReadHistory(root_ + "/" + name);
    EXPECT_EQ(want.events.at("eval: accuracy").size(), 6u);
    EXPECT_EQ(want.events.at(": activations").size(), 18u);  // 1, 8, …, 120
    EXPECT_EQ(want.exports.size(), 3u);
    EXPECT_EQ(got.events, want.events) << name;
    EXPECT_EQ(got.evaluations, want.evaluations) << name;
    EXPECT_EQ(got.exports, want.exports) << name;
    EXPECT_EQ(got.leftovers, std::vector<std::string>{}) << name;
  }
  std::string root_;
};

TEST_F(KillTest, EndsTheSameAfterKills) {
  const auto start = Clock::now();
  ASSERT_TRUE(Finished(Wait(Start("whole"))));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  const uint64_t seed = std::random_device()();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  int kills = 0;
  for (int run = 0; kills < 20; ++run) {
    const std::string name = "run" + std::to_string(run);
    std::uniform_real_distribution<double> moment(0, seconds);
    for (int attempt = 0; attempt < 3; ++attempt) {
      const int status = EndAfter(Start(name), moment(random), SIGKILL);
      if (Finished(status)) break;
      ASSERT_TRUE(WIFSIGNALED(status)) << status;
      ++kills;
    }
    ASSERT_TRUE(Finished(Wait(Start(name)))) << name;
    ExpectSame(name);
    if (HasFailure()) break;
    fs::remove_all(root_ + "/" + name);
  }
}

TEST_F(KillTest, SavesAndTellsHowToGoOnWhenAskedToStop) {
  const auto start = Clock::now();
  ASSERT_TRUE(Finished(Wait(Start("whole"))));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  int stopped = 0;
  for (const int signal : {SIGTERM, SIGINT}) {
    const std::string name = "signal" + std::to_string(signal);
    const int status = EndAfter(Start(name), seconds / 2, signal);
    ASSERT_TRUE(WIFEXITED(status)) << status;
    if (WEXITSTATUS(status) != 0) {
      EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
      ++stopped;
    }
    ASSERT_TRUE(Finished(Wait(Start(name))));
    ExpectSame(name);
  }
  EXPECT_GT(stopped, 0);
}

}  // namespace
}  // namespace sextant

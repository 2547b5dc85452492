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

#include "sextant/base/file_system.h"
#include "sextant/formats/checkpoint_state.h"
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

  pid_t Start(const std::string& name, const char* program = KILLABLE_TRAINING) const {
    const std::string model_dir = root_ + "/" + name;
    const pid_t child = fork();
    if (child != 0) return child;
    const int log = open((model_dir + ".log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    dup2(log, 1);
    dup2(log, 2);
    execl(program, program, model_dir.c_str(), kSteps, nullptr);
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
    EXPECT_TRUE(got.has_graph) << name;
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
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
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

TEST_F(KillTest, ASecondTrainingInTheSameDirectoryIsRefused) {
  ASSERT_TRUE(Finished(Wait(Start("whole"))));
  const std::string lock = root_ + "/twice/sextant_lock.json";
  const pid_t first = Start("twice");
  int status = 0;
  while ((!fs::exists(lock) || fs::file_size(lock) == 0) && waitpid(first, &status, WNOHANG) == 0) {
    std::this_thread::yield();
  }
  kill(first, SIGSTOP);  // so that it is at work, however fast it is
  ASSERT_TRUE(fs::exists(lock));
  const int refused = Wait(Start("twice"));
  EXPECT_TRUE(WIFEXITED(refused) && WEXITSTATUS(refused) == 1) << refused;
  const std::string log = FileSystem::ForPath(root_).ReadFile(root_ + "/twice.log");
  EXPECT_NE(log.find("/twice is being trained by process " + std::to_string(first) + " on "),
            std::string::npos)
      << log;
  kill(first, SIGCONT);
  ASSERT_TRUE(Finished(Wait(first)));
  ExpectSame("twice");
}

TEST_F(KillTest, AProgramThatTrainsOnAThreadGoesOnAfterASignal) {
  const auto start = Clock::now();
  ASSERT_TRUE(Finished(Wait(Start("whole"))));
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  int stopped = 0;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    const std::string name = "threaded" + std::to_string(signal);
    ASSERT_TRUE(Finished(EndAfter(Start(name, THREADED_TRAINING), seconds / 2, signal)));
    const std::string log = FileSystem::ForPath(root_).ReadFile(root_ + "/" + name + ".log");
    EXPECT_NE(log.find("; went on\n"), std::string::npos) << log;
    const size_t at = log.find("stopped by its program at step ");
    if (at != std::string::npos) {
      ++stopped;
      const std::string step = std::to_string(std::atoi(log.c_str() + at + 31));
      EXPECT_EQ(LatestCheckpoint(root_ + "/" + name), root_ + "/" + name + "/model.ckpt-" + step);
    }
    ASSERT_TRUE(Finished(Wait(Start(name))));
    ExpectSame(name);
  }
  EXPECT_GT(stopped, 0);
}

}  // namespace
}  // namespace sextant

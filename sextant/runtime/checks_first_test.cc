#include "sextant/runtime/checks_first.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>

#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/sextant.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

// A pipe that somebody holds open and writes nothing to.
class ChecksFirstTest : public testing::TestWithParam<ParallelSteps> {
 protected:
  ChecksFirstTest() {
    EXPECT_EQ(mkfifo(pipe_.c_str(), 0600), 0);
    writer_ = open(pipe_.c_str(), O_RDWR);
  }
  ~ChecksFirstTest() override { close(writer_); }

  // Of a run that may not wait for ever.
  Status RunStatus(const FeedMap& feeds, const std::vector<Output>& fetches,
                   const std::vector<Operation>& targets = {}) {
    SessionOptions options;
    options.optimizer.parallel_steps = GetParam();
    Session session(graph_, options);
    return StatusOf(
        [&] { session.Run(feeds, fetches, targets, {.deadline = std::chrono::seconds(20)}); });
  }
  Output NextLine() {
    return data::OneShotIterator(data::TextLines({pipe_})).GetNext().fields()[0].second;
  }

  const TemporaryDirectory directory_;
  const std::string pipe_ = directory_.path() + "/pipe";
  int writer_ = -1;
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_P(ChecksFirstTest, AFailingCheckEndsARunThatWouldWait) {
  const Output x = Placeholder(DType::kFloat, Shape());
  const Output line = NextLine(), text = ReadFile(Const(Tensor(pipe_)));
  const Output number = CheckNumerics(x, "of x");
  const Operation positive = Assert(Greater(x, Const(Tensor(0.0f))), {x});
  const Tensor nan(std::nanf("")), minus(-1.0f);
  for (const Output& wait : {line, text}) {
    EXPECT_EQ(RunStatus({{x, nan}}, {wait, number}).code(), Code::kInvalidArgument);
    EXPECT_EQ(RunStatus({{x, minus}}, {wait}, {positive}).code(), Code::kInvalidArgument);
  }
}

TEST_P(ChecksFirstTest, ValuesStay) {
  const Output x = Placeholder(DType::kFloat, Shape());
  const Output next = data::OneShotIterator(data::Range(7, 9)).GetNext().fields()[0].second;
  const Output number = CheckNumerics(x, "of x") + 1.0f;
  const Operation after = Assert(Less(next, Const(Tensor(int64_t{8}))), {next});  // depends on it
  SessionOptions options;
  options.optimizer.parallel_steps = GetParam();
  Session session(graph_, options);
  const auto run = [&] { return session.Run({{x, Tensor(2.0f)}}, {next, number}, {after}); };
  const auto values = run();
  EXPECT_EQ(values[0].AsInt64(), 7);
  EXPECT_EQ(values[1].scalar<float>(), 3.0f);
  EXPECT_EQ(StatusOf(run).code(), Code::kInvalidArgument);
}

// The file may change from run to run.
TEST_P(ChecksFirstTest, FilesAreReadByTheRunNotByItsPlan) {
  const std::string path = directory_.path() + "/text";
  const Output text = ReadFile(Const(Tensor(path)));
  Session session(graph_);
  for (const char* written : {"one", "two"}) {
    FileSystem::ForPath(path).WriteFileAtomically(path, written);
    EXPECT_EQ(session.Run(text).scalar<std::string>(), written);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, ChecksFirstTest,
                         testing::Values(ParallelSteps::kNever, ParallelSteps::kAlways));

}  // namespace
}  // namespace sextant

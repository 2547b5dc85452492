#include "sextant/runtime/checks_first.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <thread>

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
                   const std::vector<Operation>& targets = {},
                   const std::vector<Operation>& first = {}) {
    Session session(graph_, Options());
    if (!first.empty()) session.Run({}, {}, first);
    return StatusOf(
        [&] { session.Run(feeds, fetches, targets, {.deadline = std::chrono::seconds(20)}); });
  }
  static SessionOptions Options() {
    SessionOptions options;
    options.optimizer.parallel_steps = GetParam();
    return options;
  }
  Output NextLine() {
    return data::OneShotIterator(data::TextLines({pipe_})).GetNext().fields()[0].second;
  }
  // Of a shape that is known when they have come.
  Output NextLines() {
    return data::OneShotIterator(data::TextLines({pipe_}).Batch(2)).GetNext().fields()[0].second;
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
  Session session(graph_, Options());
  const auto run = [&] { return session.Run({{x, Tensor(2.0f)}}, {next, number}, {after}); };
  const auto values = run();
  EXPECT_EQ(values[0].AsInt64(), 7);
  EXPECT_EQ(values[1].scalar<float>(), 3.0f);
  EXPECT_EQ(StatusOf(run).code(), Code::kInvalidArgument);
}

TEST_P(ChecksFirstTest, AFailingCheckOfWhatTheRunComputesEndsItToo) {
  const Output line = NextLine(), lines = NextLines();
  const Output x = Placeholder(DType::kFloat, Shape({2, 2}));
  const Variable w("w", Tensor::Of<float>({2, 2}, {1, 0, 0, 1}));
  const Output read = w.Read();
  const Output product = Sum(MatMul(x, read), {0, 1});
  const Operation of_read = Assert(Less(Sum(read, {0, 1}), Const(Tensor(0.0f))), {read});
  const Operation of_product = Assert(Less(product, Const(Tensor(0.0f))), {product});
  const FeedMap feeds = {{x, Tensor::Of<float>({2, 2}, {1, 2, 3, 4})}};
  for (const Output& wait : {line, lines}) {
    for (const Operation& check : {of_read, of_product}) {
      EXPECT_EQ(RunStatus(feeds, {wait}, {check}, {w.initializer()}).code(),
                Code::kInvalidArgument);
    }
  }
}

// What the check reads was written before it: it stays behind that, and with it behind the input.
TEST_P(ChecksFirstTest, ReadsStayBehindWrites) {
  const Output next = data::OneShotIterator(data::Range(7, 9)).GetNext().fields()[0].second;
  const Variable w("w", Tensor(int64_t{0}));
  const Operation write = w.Assign(next);
  const Output read = w.Read();
  const Operation written = Assert(Equal(read, Const(Tensor(int64_t{7}))), {read});
  Session session(graph_, Options());
  session.Run({}, {}, {w.initializer()});
  EXPECT_EQ(session.Run({}, {next}, {write, written})[0].AsInt64(), 7);
}

// At the end of the input nothing is counted, where steps run one after the other: parallel ones
// have the order of the graph's edges only.
TEST_P(ChecksFirstTest, UpdatesStayBehindInput) {
  if (GetParam() == ParallelSteps::kAlways) return;
  const Output next = data::OneShotIterator(data::Range(7, 8)).GetNext().fields()[0].second;
  const Variable w("w", Tensor(int64_t{0}));
  const Output read = w.Read();
  const Operation small = Assert(Less(read, Const(Tensor(int64_t{5}))), {read});
  const Operation count = w.AssignAdd(Const(Tensor(int64_t{1})));
  Session session(graph_, Options());
  session.Run({}, {}, {w.initializer()});
  const auto run = [&] { session.Run({}, {next}, {small, count}); };
  run();
  EXPECT_EQ(StatusOf(run).code(), Code::kOutOfRange);
  EXPECT_EQ(session.Run(read).AsInt64(), 1);
}

// The line is written by another run when it has the element that this one puts.
TEST_P(ChecksFirstTest, WhatPutsIntoAQueueRunsBeforeInput) {
  const Output queue = FIFOQueue({DType::kInt32}, {.capacity = 2, .shapes = {Shape()}});
  const Output line = NextLine(), lines = NextLines();
  const Operation put = QueueEnqueue(queue, {Const(Tensor(5))});
  const Output got = QueueDequeue(queue)[0];
  for (const Output& wait : {line, lines}) {
    Session session(graph_, Options());
    std::thread answer([&] {
      const RunOptions patience = {.deadline = std::chrono::seconds(40)};
      const Status status = StatusOf([&] { session.Run({}, {got}, {}, patience); });
      if (!status.ok()) return;
      EXPECT_EQ(write(writer_, "a\nb\n", 4), 4);
    });
    EXPECT_EQ(StatusOf([&] {
                session.Run({}, {wait}, {put}, {.deadline = std::chrono::seconds(20)});
              }).code(),
              Code::kOk);
    session.Close();
    answer.join();
  }
}

// The queue is full, and what empties it waits for the input.
TEST_P(ChecksFirstTest, InputDoesNotWaitForRoomInAQueue) {
  const Output queue = FIFOQueue({DType::kInt64}, {.capacity = 1, .shapes = {Shape()}});
  const Output next = data::OneShotIterator(data::Range(7, 9)).GetNext().fields()[0].second;
  const Operation put = QueueEnqueue(queue, {Const(Tensor(int64_t{5}))});
  Output got;
  {
    const ControlDependencies after({next});
    got = QueueDequeue(queue)[0];
  }
  Session session(graph_, Options());
  session.Run({}, {}, {put});
  const RunOptions patience = {.deadline = std::chrono::seconds(20)};
  EXPECT_EQ(session.Run({}, {got}, {put}, patience)[0].AsInt64(), 5);
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

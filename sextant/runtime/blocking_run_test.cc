#include "sextant/runtime/blocking_run.h"

#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "sextant/sextant.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

// Nodes come in the order in which they are made: what waits is made before what ends the wait.
class BlockingRunTest : public testing::TestWithParam<ParallelSteps> {
 protected:
  static Output Number(int value) { return Const(Tensor(value)); }
  static Output Queue(int64_t capacity = -1) {
    return FIFOQueue({DType::kInt32}, {.capacity = capacity, .shapes = {Shape()}});
  }
  std::vector<Tensor> Run(const std::vector<Output>& fetches,
                          const std::vector<Operation>& targets) {
    // A run that waits for ever fails instead.
    return session().Run({}, fetches, targets, {.deadline = std::chrono::minutes(2)});
  }
  Session& session() {
    if (!session_) {
      SessionOptions options;
      options.optimizer.parallel_steps = GetParam();
      session_ = std::make_unique<Session>(graph_, options);
    }
    return *session_;
  }

  Graph graph_;
  GraphScope scope_{graph_};
  std::unique_ptr<Session> session_;
};

// TensorFlow 2.15.1 gives 33.
TEST_P(BlockingRunTest, DequeueWaitsForTheEnqueueOfItsOwnRun) {
  const Output queue = Queue();
  const Output got = QueueDequeue(queue)[0];
  const Operation put = QueueEnqueue(queue, {Number(33)});
  for (int i = 0; i < 30; ++i) EXPECT_EQ(Run({got}, {put})[0].AsInt64(), 33);
}

TEST_P(BlockingRunTest, WaitsMayFormAChain) {
  const Output first = Queue(), second = Queue();
  const Output result = QueueDequeue(second)[0];
  const Operation move = QueueEnqueue(second, {QueueDequeue(first)[0] + 1});
  const Operation put = QueueEnqueue(first, {Number(5)});
  EXPECT_EQ(Run({result}, {move, put})[0].AsInt64(), 6);
}

TEST_P(BlockingRunTest, SeveralStepsWaitAtTheSameTime) {
  const Output queue = Queue();
  std::vector<Output> got;
  std::vector<Operation> puts;
  for (int i = 0; i < 5; ++i) got.push_back(QueueDequeue(queue)[0]);
  for (int i = 0; i < 5; ++i) puts.push_back(QueueEnqueue(queue, {Number(i)}));
  std::multiset<int64_t> values;
  for (const Tensor& value : Run(got, puts)) values.insert(value.AsInt64());
  EXPECT_EQ(values, (std::multiset<int64_t>{0, 1, 2, 3, 4}));
}

TEST_P(BlockingRunTest, ManyTuplesGoThroughASmallQueueEitherWay) {
  const Tensor numbers = Tensor::Of<int32_t>({1, 2, 3, 4, 5});
  const Output queue = Queue(2);
  const Operation put = QueueEnqueueMany(queue, {Const(numbers)});
  const Output got = QueueDequeueMany(queue, Number(5))[0];
  EXPECT_TRUE(Run({got}, {put})[0].Identical(numbers));

  const Output other = Queue(2);
  const Output taken = QueueDequeueMany(other, Number(5))[0];
  const Operation given = QueueEnqueueMany(other, {Const(numbers)});
  EXPECT_TRUE(Run({taken}, {given})[0].Identical(numbers));
}

TEST_P(BlockingRunTest, ClosingEndsTheWaitOfItsOwnRun) {
  const Output queue = Queue();
  const Output got = QueueDequeueUpTo(queue, Number(3))[0];
  const Operation put = QueueEnqueue(queue, {Number(9)});
  Operation close;
  {
    const ControlDependencies after({put});
    close = QueueClose(queue);
  }
  EXPECT_TRUE(Run({got}, {close})[0].Identical(Tensor::Of<int32_t>({9})));
  EXPECT_EQ(StatusOf([&] { Run({QueueDequeue(queue)[0]}, {}); }).code(), Code::kOutOfRange);
}

TEST_P(BlockingRunTest, ACloseWaitsForTheEnqueuesBeforeIt) {
  const Output queue = Queue(1);
  const Operation put = QueueEnqueueMany(queue, {Const(Tensor::Of<int32_t>({1, 2, 3}))});
  const Operation close = QueueClose(queue);
  const Output got = QueueDequeueMany(queue, Number(3))[0];
  EXPECT_TRUE(Run({got}, {put, close})[0].Identical(Tensor::Of<int32_t>({1, 2, 3})));
}

TEST_P(BlockingRunTest, AFailureEndsTheWaits) {
  const Output queue = Queue();
  const Output got = QueueDequeue(queue)[0], more = QueueDequeue(queue)[0];
  const Operation check = Assert(Const(Tensor(false)), {Number(7)});
  const Status status = StatusOf([&] { Run({got, more}, {check}); });
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("[Assert ")) << status.message();
  // The session stays usable.
  EXPECT_EQ(Run({got}, {QueueEnqueue(queue, {Number(1)})})[0].AsInt64(), 1);
}

TEST_P(BlockingRunTest, DeadlinesEndTheWaits) {
  const Output queue = Queue();
  const Output got = QueueDequeue(queue)[0];
  const Output other = Number(3) + Number(4);
  const Status status = StatusOf([&] {
    session().Run({}, {got, other}, {}, {.deadline = std::chrono::milliseconds(5)});
  });
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << status.message();
}

// Steps outside of a loop or branch feed the dequeues inside of it.
TEST_P(BlockingRunTest, LoopsAndBranchesWaitToo) {
  const Output queue = Queue();
  const auto loop = While([](const std::vector<Output>& v) { return Less(v[0], Const(Tensor(3))); },
                          [&](const std::vector<Output>& v) {
                            const Output got = Reshape(QueueDequeue(queue)[0], ShapeOf(v[0]));
                            return std::vector<Output>{v[0] + 1, v[1] + got};
                          },
                          {Number(0), Number(0)});
  const Operation put = QueueEnqueueMany(queue, {Const(Tensor::Of<int32_t>({10, 20, 30}))});
  EXPECT_EQ(Run({loop[1]}, {put})[0].AsInt64(), 60);

  const Output chosen = Cond(
      Const(Tensor(true)), [&] { return std::vector{QueueDequeue(queue)[0] * 2}; },
      [&] { return std::vector{Number(0)}; })[0];
  const Operation one = QueueEnqueue(queue, {Number(21)});
  EXPECT_EQ(Run({chosen}, {one})[0].AsInt64(), 42);
}

// y is made before the wait and read after it; what runs meanwhile would fit in its memory.
TEST_P(BlockingRunTest, ValuesStayWhatTheyWere) {
  const Output x = Placeholder(DType::kFloat, Shape{64});
  const Output queue = FIFOQueue({DType::kFloat}, {.shapes = {Shape{64}}});
  const Output y = x * 2.0;
  const Output z = Tanh(y + QueueDequeue(queue)[0]);
  Output other = Exp(x);
  for (int i = 0; i < 6; ++i) other = Sqrt(other + 1.0) * 0.5;
  const Operation put = QueueEnqueue(queue, {other - y});
  const Output expected = Tanh(y + (other - y));
  Tensor value(DType::kFloat, Shape{64});
  for (int i = 0; i < 64; ++i) value.data<float>()[i] = 0.05f * static_cast<float>(i);
  for (int i = 0; i < 5; ++i) {
    const auto results = session().Run({{x, value}}, {Sum(z, {0}), Sum(expected, {0}), z, expected},
                                       {put}, {.deadline = std::chrono::minutes(2)});
    EXPECT_TRUE(results[2].Identical(results[3]));
    EXPECT_TRUE(results[0].Identical(results[1]));
  }
}

TEST_P(BlockingRunTest, ReadersWaitForNamesOfTheirOwnRun) {
  const Output names = FIFOQueue({DType::kString}, {.shapes = {Shape()}});
  const Output reader = IdentityReader();
  const ReadRecord one = ReaderRead(reader, names), two = ReaderRead(reader, names);
  const Operation put = QueueEnqueueMany(names, {Const(Tensor::Of<std::string>({"a", "b"}))});
  std::set<std::string> seen;
  for (const Tensor& value : Run({one.value, two.value}, {put})) {
    seen.insert(value.scalar<std::string>());
  }
  EXPECT_EQ(seen, (std::set<std::string>{"a", "b"}));
}

TEST_P(BlockingRunTest, TracesHaveEveryStep) {
  const Output queue = Queue();
  const Output got = Neg(QueueDequeue(queue)[0]);
  const Operation put = QueueEnqueue(queue, {Number(2)});
  StepTrace trace;
  session().Run({}, {got}, {put}, {.trace = &trace});
  std::multiset<std::string> ops;
  for (const auto& event : trace.events()) ops.insert(event.op);
  EXPECT_EQ(ops.count("QueueDequeueV2"), 1u);
  EXPECT_EQ(ops.count("QueueEnqueueV2"), 1u);
}

INSTANTIATE_TEST_SUITE_P(Ways, BlockingRunTest,
                         testing::Values(ParallelSteps::kNever, ParallelSteps::kWhenFaster,
                                         ParallelSteps::kAlways));

}  // namespace
}  // namespace sextant

#include "sextant/ops/queue/queue.h"

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "sextant/graph/graph_def.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/queue/tensor_queue.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

Tensor Floats(std::initializer_list<float> values) { return Tensor::Of<float>(values); }

class QueueTest : public testing::Test {
 protected:
  static Output Number(int value) { return Const(Tensor(value)); }
  static Output Range(int count) {
    std::vector<int32_t> values;
    for (int i = 0; i < count; ++i) values.push_back(i);
    return Const(Tensor::FromVector(values));
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(QueueTest, GivesTuplesInOrderAndEndsWhenClosed) {
  const Output queue = FIFOQueue({DType::kFloat, DType::kInt32},
                                 {.capacity = 3, .shapes = {{2}, Shape()}, .name = "q"});
  const Operation one = QueueEnqueue(queue, {Const(Floats({1, 2})), Number(3)});
  const Operation two = QueueEnqueueMany(
      queue, {Const(Tensor::Of<float>({2, 2}, {3, 4, 5, 6})), Const(Tensor::Of<int32_t>({4, 5}))});
  const auto taken = QueueDequeue(queue);
  const auto batch = QueueDequeueMany(queue, Number(2));
  EXPECT_EQ(taken[0].shape(), (PartialShape{2}));
  EXPECT_EQ(batch[0].shape(), (PartialShape{2, 2}));
  EXPECT_EQ(batch[1].shape(), (PartialShape{2}));
  const Operation close = QueueClose(queue);
  Session session(graph_);
  session.Run(one);
  session.Run(two);
  EXPECT_EQ(session.Run(QueueSize(queue)).AsInt64(), 3);
  const auto first = session.Run(taken);
  EXPECT_TRUE(first[0].Identical(Floats({1, 2})));
  EXPECT_EQ(first[1].AsInt64(), 3);
  EXPECT_FALSE(session.Run(QueueIsClosed(queue)).scalar<bool>());
  session.Run(close);
  EXPECT_TRUE(session.Run(QueueIsClosed(queue)).scalar<bool>());
  const auto rest = session.Run(batch);
  EXPECT_TRUE(rest[0].Identical(Tensor::Of<float>({2, 2}, {3, 4, 5, 6})));
  EXPECT_TRUE(rest[1].Identical(Tensor::Of<int32_t>({4, 5})));

  const Status empty = StatusOf([&] { session.Run(taken); });
  EXPECT_EQ(empty.code(), Code::kOutOfRange);
  EXPECT_NE(empty.message().find(
                "FIFOQueue 'q' is closed and has insufficient elements (requested 1, current size "
                "0)"),
            std::string::npos)
      << empty.message();
  const Status full = StatusOf([&] { session.Run(one); });
  EXPECT_EQ(full.code(), Code::kCancelled);
  EXPECT_NE(full.message().find("FIFOQueue 'q' is closed."), std::string::npos);
  const Status twice = StatusOf([&] { session.Run(close); });
  EXPECT_EQ(twice.code(), Code::kCancelled);
  EXPECT_NE(twice.message().find("Queue 'q' is already closed."), std::string::npos);
  session.Run(QueueClose(queue, true));
}

TEST_F(QueueTest, BatchesOfAClosedQueueAreWholeOrUpToWhatThereIs) {
  const Output queue = FIFOQueue({DType::kInt32}, {.shapes = {Shape()}});
  const Operation fill = QueueEnqueueMany(queue, {Range(2)});
  const auto many = QueueDequeueMany(queue, Number(3)), fewer = QueueDequeueUpTo(queue, Number(3));
  EXPECT_EQ(fewer[0].shape(), PartialShape({-1}));
  Session session(graph_);
  session.Run(fill);
  session.Run(QueueClose(queue));
  EXPECT_EQ(StatusOf([&] { session.Run(many); }).code(), Code::kOutOfRange);
  EXPECT_EQ(session.Run(QueueSize(queue)).AsInt64(), 2);
  EXPECT_TRUE(session.Run(fewer)[0].Identical(Tensor::Of<int32_t>({0, 1})));
  EXPECT_EQ(StatusOf([&] { session.Run(fewer); }).code(), Code::kOutOfRange);
  EXPECT_EQ(session.Run(QueueDequeueMany(queue, Number(0)))[0].num_elements(), 0);
}

TEST_F(QueueTest, EnqueueAndDequeueOfDifferentRunsWaitForEachOther) {
  const Output queue = FIFOQueue({DType::kInt32}, {.capacity = 2, .shapes = {Shape()}});
  const Output value = Placeholder(DType::kInt32, Shape());
  const Operation put = QueueEnqueue(queue, {value});
  const Output get = QueueDequeueMany(queue, Number(5))[0];  // more than there is room for
  Session session(graph_);
  std::thread producer([&] {
    for (int i = 0; i < 100; ++i) session.Run({{value, Tensor(i)}}, put);
  });
  for (int i = 0; i < 100; i += 5) {
    EXPECT_TRUE(session.Run(get).Identical(Tensor::Of<int32_t>({i, i + 1, i + 2, i + 3, i + 4})));
  }
  producer.join();
  EXPECT_EQ(session.Run(QueueSize(queue)).AsInt64(), 0);
}

TEST_F(QueueTest, ManyProducersAndConsumersLoseNothing) {
  const Output queue = FIFOQueue({DType::kInt32}, {.capacity = 3, .shapes = {Shape()}});
  const Output value = Placeholder(DType::kInt32, Shape());
  const Operation put = QueueEnqueue(queue, {value});
  const Output get = QueueDequeue(queue)[0];
  const Operation close = QueueClose(queue);
  Session session(graph_);
  constexpr int kEach = 50, kThreads = 4;
  std::mutex mutex;
  std::multiset<int64_t> seen;
  std::vector<std::thread> consumers, producers;
  for (int t = 0; t < kThreads; ++t) {
    consumers.emplace_back([&] {
      for (;;) {
        Tensor result;
        const Status status = StatusOf([&] { result = session.Run(get); });
        if (!status.ok()) {
          EXPECT_EQ(status.code(), Code::kOutOfRange) << status.message();
          return;
        }
        const std::lock_guard lock(mutex);
        seen.insert(result.AsInt64());
      }
    });
    producers.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) session.Run({{value, Tensor(t * kEach + i)}}, put);
    });
  }
  for (std::thread& thread : producers) thread.join();
  session.Run(close);
  for (std::thread& thread : consumers) thread.join();
  ASSERT_EQ(seen.size(), static_cast<size_t>(kEach * kThreads));
  for (int i = 0; i < kEach * kThreads; ++i) EXPECT_EQ(seen.count(i), 1u) << i;
}

TEST_F(QueueTest, WaitsEndWithTheRun) {
  const Output queue = FIFOQueue({DType::kInt32}, {.name = "q"});
  const Output get = QueueDequeue(queue)[0];
  Session session(graph_);
  const Status late =
      StatusOf([&] { session.Run(get, {.deadline = std::chrono::milliseconds(1)}); });
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded) << late.message();
  CancellationToken token;
  std::thread canceller([&] { token.Cancel(); });
  EXPECT_EQ(StatusOf([&] { session.Run(get, {.cancellation = &token}); }).code(), Code::kCancelled);
  canceller.join();
}

TEST_F(QueueTest, WaitsEndWithTheSession) {
  const Output begun = FIFOQueue({DType::kInt32}, {.name = "begun"});
  const Output queue = FIFOQueue({DType::kInt32}, {.name = "q"});
  const Operation begin = QueueEnqueue(begun, {Number(1)});
  const Output begin_seen = QueueDequeue(begun)[0];
  const ControlDependencies after({begin});
  const Output get = QueueDequeue(queue)[0];
  for (const bool close : {false, true}) {
    auto session = std::make_unique<Session>(graph_);
    std::vector<std::thread> threads;
    for (int t = 0; t < 3; ++t) {
      threads.emplace_back([&get, t, running = session.get()] {
        CancellationToken own;
        RunOptions options;
        if (t == 1) options.cancellation = &own;
        if (t == 2) options.deadline = std::chrono::hours(1);
        EXPECT_EQ(StatusOf([&] { running->Run(get, options); }).code(), Code::kCancelled);
      });
    }
    for (int t = 0; t < 3; ++t) session->Run(begin_seen);
    if (close) {
      session->Close();
      EXPECT_EQ(StatusOf([&] { session->Run(begin_seen); }).code(), Code::kCancelled);
    }
    session.reset();
    for (std::thread& thread : threads) thread.join();
  }
}

TEST_F(QueueTest, ChecksTypesAndShapes) {
  const Output queue = FIFOQueue({DType::kFloat}, {.shapes = {{2}}, .name = "q"});
  const Output any = Placeholder(DType::kFloat, PartialShape());
  const Operation put = QueueEnqueue(queue, {any});
  const Operation put_rows = QueueEnqueueMany(queue, {any});
  const Operation put_int = QueueEnqueue(queue, {Number(1)});
  Session session(graph_);
  const Status shape = StatusOf([&] { session.Run({{any, Floats({1, 2, 3})}}, put); });
  EXPECT_EQ(shape.code(), Code::kInvalidArgument);
  EXPECT_NE(shape.message().find("Shape mismatch in tuple component 0. Expected [2], got [3]"),
            std::string::npos)
      << shape.message();
  EXPECT_EQ(StatusOf([&] {
              session.Run({{any, Floats({1, 2})}}, put_rows);
            }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] {
              session.Run({{any, Tensor(1.0f)}}, put_rows);
            }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { session.Run(put_int); }).code(), Code::kInvalidArgument);

  const Output open = FIFOQueue({DType::kFloat});
  const auto many = QueueDequeueMany(open, Number(1));
  EXPECT_EQ(StatusOf([&] { session.Run(many); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { QueueDequeueMany(queue, Number(-1)); }).code(), Code::kInvalidArgument);

  const auto refused = [&](Output handle) {
    return StatusOf([&] { session.Run(QueueSize(handle)); }).code() == Code::kInvalidArgument;
  };
  EXPECT_TRUE(refused(FIFOQueue({DType::kFloat}, {.shapes = {{-1}}})));
  EXPECT_TRUE(refused(FIFOQueue({DType::kFloat}, {.shapes = {{1}, {2}}})));
  EXPECT_TRUE(refused(PaddingFIFOQueue({DType::kFloat}, {.shapes = {PartialShape()}})));
  EXPECT_TRUE(refused(RandomShuffleQueue(
      {DType::kFloat}, {.queue = {.capacity = 3, .shapes = {}}, .min_after_dequeue = 3})));
}

TEST_F(QueueTest, SharesByName) {
  const Output a = FIFOQueue({DType::kInt32}, {.capacity = 3, .shared_name = "shared"});
  const Output b = FIFOQueue({DType::kInt32}, {.capacity = 3, .shared_name = "shared"});
  const Output other = FIFOQueue({DType::kInt32}, {.capacity = 4, .shared_name = "shared"});
  Session session(graph_);
  session.Run(QueueEnqueue(a, {Number(7)}));
  EXPECT_EQ(session.Run(QueueDequeue(b)[0]).AsInt64(), 7);
  const Status status = StatusOf([&] { session.Run(QueueSize(other)); });
  EXPECT_NE(status.message().find("Shared queue 'shared' has capacity 3 but requested capacity 4"),
            std::string::npos)
      << status.message();
}

// As TensorFlow: seeds 0, 0 match a queue of any seeds.
TEST_F(QueueTest, SharedShuffleQueuesMatchBySeedsUnlessTheyAreZero) {
  const auto queue = [](int64_t seed, int64_t seed2) {
    return RandomShuffleQueue(
        {DType::kInt32},
        {.queue = {.capacity = 3, .shared_name = "mixed"}, .seed = seed, .seed2 = seed2});
  };
  const Output seeded = queue(3, 4), unseeded = queue(0, 0), other = queue(3, 5);
  Session session(graph_);
  session.Run(QueueEnqueue(seeded, {Number(7)}));
  EXPECT_EQ(session.Run(QueueDequeue(unseeded)[0]).AsInt64(), 7);
  const Status status = StatusOf([&] { session.Run(QueueSize(other)); });
  EXPECT_NE(status.message().find("random seeds (3, 4)"), std::string::npos) << status.message();
}

// The orders were drawn by TensorFlow 2.15 from the same seeds.
TEST_F(QueueTest, ShufflesAsTensorFlowDoes) {
  const Output queue = RandomShuffleQueue(
      {DType::kInt32},
      {.queue = {.capacity = 50, .shapes = {Shape()}}, .min_after_dequeue = 3, .seed = 7});
  Session session(graph_);
  session.Run(QueueEnqueueMany(queue, {Range(10)}));
  session.Run(QueueClose(queue));
  EXPECT_TRUE(session.Run(QueueDequeueMany(queue, Number(10)))[0].Identical(
      Tensor::Of<int32_t>({7, 4, 2, 8, 3, 1, 5, 0, 9, 6})));

  const Output mixed = RandomShuffleQueue(
      {DType::kInt32},
      {.queue = {.shapes = {Shape()}}, .min_after_dequeue = 2, .seed = 3, .seed2 = 9});
  const Output one = QueueDequeue(mixed)[0];
  session.Run(QueueEnqueueMany(mixed, {Range(20)}));
  for (const int expected : {2, 5, 1, 19, 15, 9, 6, 11, 14, 7}) {
    EXPECT_EQ(session.Run(one).AsInt64(), expected);
  }
}

TEST_F(QueueTest, KeepsTuplesForMixingUntilClosed) {
  const Output queue = RandomShuffleQueue(
      {DType::kInt32}, {.queue = {.shapes = {Shape()}}, .min_after_dequeue = 2, .seed = 1});
  const Output one = QueueDequeue(queue)[0];
  Session session(graph_);
  session.Run(QueueEnqueueMany(queue, {Range(3)}));
  session.Run(one);
  EXPECT_EQ(StatusOf([&] { session.Run(one, {.deadline = std::chrono::milliseconds(1)}); }).code(),
            Code::kDeadlineExceeded);
  session.Run(QueueClose(queue));
  session.Run(one);
  session.Run(one);
  EXPECT_EQ(StatusOf([&] { session.Run(one); }).code(), Code::kOutOfRange);
}

TEST_F(QueueTest, PadsBatches) {
  const Output queue =
      PaddingFIFOQueue({DType::kFloat, DType::kString}, {.shapes = {{-1, 2}, {-1}}});
  const auto put = [&](Tensor floats, Tensor strings) {
    return QueueEnqueue(queue, {Const(floats), Const(strings)});
  };
  const auto batch = QueueDequeueMany(queue, Number(2));
  EXPECT_EQ(batch[0].shape(), (PartialShape{2, -1, 2}));
  Session session(graph_);
  session.Run(put(Tensor::Of<float>({1, 2}, {1, 2}), Tensor::Of<std::string>({"a"})));
  session.Run(put(Tensor::Of<float>({2, 2}, {3, 4, 5, 6}), Tensor(DType::kString, Shape{0})));
  const auto values = session.Run(batch);
  EXPECT_TRUE(values[0].Identical(Tensor::Of<float>({2, 2, 2}, {1, 2, 0, 0, 3, 4, 5, 6})));
  EXPECT_TRUE(values[1].Identical(Tensor::Of<std::string>({2, 1}, {"a", ""})));
  EXPECT_EQ(
      StatusOf([&] {
        session.Run(put(Tensor::Of<float>({1, 3}, {1, 2, 3}), Tensor::Of<std::string>({"a"})));
      }).code(),
      Code::kInvalidArgument);
}

TEST_F(QueueTest, GivesTheLowestPriorityFirst) {
  const Output queue = PriorityQueue({DType::kString}, {.capacity = 10, .shapes = {Shape()}});
  Session session(graph_);
  session.Run(QueueEnqueueMany(queue, {Const(Tensor::Of<int64_t>({5, 1, 3, 1})),
                                       Const(Tensor::Of<std::string>({"a", "b", "c", "d"}))}));
  const auto two = session.Run(QueueDequeueMany(queue, Number(2)));
  EXPECT_TRUE(two[0].Identical(Tensor::Of<int64_t>({1, 1})));
  EXPECT_TRUE(two[1].Identical(Tensor::Of<std::string>({"b", "d"})));
  session.Run(QueueEnqueue(queue, {Const(Tensor(int64_t{0})), Const(Tensor("z"))}));
  EXPECT_EQ(session.Run(QueueDequeue(queue)[1]).scalar<std::string>(), "z");
}

TEST_F(QueueTest, RunsHandlesThatAreReferences) {
  const auto handle = OpBuilder("FIFOQueue")
                          .Attr("component_types", std::vector<DType>{DType::kInt32})
                          .Attr("shapes", std::vector<PartialShape>{Shape()})
                          .Build();
  const Operation put =
      OpBuilder("QueueEnqueueMany").Input(handle).Input({Range(3)}).BuildOperation();
  const Output get = OpBuilder("QueueDequeue")
                         .Input(handle)
                         .Attr("component_types", std::vector<DType>{DType::kInt32})
                         .Build();
  const Operation close = OpBuilder("QueueClose").Input(handle).BuildOperation();
  const Output size = OpBuilder("QueueSize").Input(handle).Build();
  Session session(graph_);
  session.Run(put);
  EXPECT_EQ(session.Run(size).AsInt64(), 3);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(session.Run(get).AsInt64(), i);
  session.Run(close);
  EXPECT_EQ(StatusOf([&] { session.Run(get); }).code(), Code::kOutOfRange);
}

// ---- The resource itself, where the order of calls matters.

QueueSpec Numbers(int64_t capacity) {
  return {.kind = "FIFOQueue",
          .name = "q",
          .types = {DType::kInt32},
          .shapes = {Shape()},
          .capacity = capacity};
}

TEST(TensorQueueTest, CloseLetsWaitingEnqueuesThrough) {
  TensorQueue queue(Numbers(1));
  CancellationToken token;
  std::thread producer([&] { queue.EnqueueMany({Tensor::Of<int32_t>({0, 1, 2, 3, 4})}, token); });
  EXPECT_EQ(queue.Dequeue(token)[0].AsInt64(), 0);  // so the producer is in line
  std::thread closer([&] { queue.Close(false, token); });
  for (int i = 1; i < 5; ++i) EXPECT_EQ(queue.Dequeue(token)[0].AsInt64(), i);
  producer.join();
  closer.join();
  EXPECT_EQ(StatusOf([&] { queue.Dequeue(token); }).code(), Code::kOutOfRange);
}

TEST(TensorQueueTest, CloseCanEndWaitingEnqueues) {
  TensorQueue queue(Numbers(1));
  CancellationToken token;
  Status ended;
  std::thread producer([&] {
    ended = StatusOf([&] { queue.EnqueueMany({Tensor::Of<int32_t>({0, 1, 2, 3, 4})}, token); });
  });
  EXPECT_EQ(queue.Dequeue(token)[0].AsInt64(), 0);
  queue.Close(true, token);
  producer.join();
  EXPECT_EQ(ended.code(), Code::kCancelled);
  EXPECT_LE(queue.size(), 1);
}

TEST(TensorQueueTest, PutsBackWhatABatchOfAClosedQueueTook) {
  TensorQueue queue(Numbers(0));
  CancellationToken token;
  queue.EnqueueMany({Tensor::Of<int32_t>({0, 1})}, token);
  Status ended;
  std::thread consumer([&] { ended = StatusOf([&] { queue.DequeueMany(4, false, token); }); });
  queue.Close(false, token);
  consumer.join();
  EXPECT_EQ(ended.code(), Code::kOutOfRange);
  EXPECT_EQ(queue.size(), 2);
  EXPECT_EQ(queue.Dequeue(token)[0].AsInt64(), 0);
  EXPECT_EQ(queue.Dequeue(token)[0].AsInt64(), 1);
}

}  // namespace
}  // namespace sextant

#include "sextant/ops/dataset/graph_iterator.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <latch>
#include <thread>

#include "sextant/data/tensor_sources.h"
#include "sextant/device/resource_manager.h"
#include "sextant/graph/graph.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/dataset/iterator_states.h"
#include "sextant/ops/math/binary.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant::data {
namespace {

Dataset Pairs() {
  return FromTensorSlices({{"x", Tensor::Of<float>({3, 2}, {1, 2, 3, 4, 5, 6})},
                           {"y", Tensor::Of<int64_t>({7, 8, 9})}});
}

class GraphIteratorTest : public testing::Test {
 protected:
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(GraphIteratorTest, GivesFieldsOfOneElementPerRun) {
  const ElementOutputs next = OneShotIterator(Pairs()).GetNext();
  EXPECT_EQ(next["x"].shape(), (PartialShape{2}));
  EXPECT_EQ(next["y"].dtype(), DType::kInt64);
  EXPECT_EQ(StatusOf([&] { next["z"]; }).code(), Code::kNotFound);
  const Output sum = next["x"] + next["x"];
  for (int i = 0; i < 2; ++i) {
    Session session(graph_);
    auto values = session.Run({sum, next["y"]});
    EXPECT_TRUE(values[0].Identical(Tensor::Of<float>({2, 4})));
    EXPECT_EQ(values[1].AsInt64(), 7);
    values = session.Run({sum, next["y"]});
    EXPECT_TRUE(values[0].Identical(Tensor::Of<float>({6, 8})));
    EXPECT_EQ(values[1].AsInt64(), 8);
    session.Run(next["y"]);
    EXPECT_EQ(StatusOf([&] { session.Run(sum); }).code(), Code::kOutOfRange);
  }
}

TEST_F(GraphIteratorTest, TheGraphKeepsTheDataset) {
  Output value;
  {
    const Dataset dataset = Range(3).Batch(2);
    value = OneShotIterator(dataset, {.prefetch = false}).GetNext()["value"];
  }
  EXPECT_EQ(value.shape(), (PartialShape{-1}));
  Session session(graph_);
  EXPECT_TRUE(session.Run(value).Identical(Tensor::Of<int64_t>({0, 1})));
  EXPECT_TRUE(session.Run(value).Identical(Tensor::Of<int64_t>({2})));
}

TEST_F(GraphIteratorTest, BatchesFollowTheMemoryLimit) {
  for (const bool prefetch : {false, true}) {
    const GraphIterator iterator =
        OneShotIterator(Range(200'000).Batch(150'000), {.prefetch = prefetch});
    const Output value = iterator.GetNext()["value"];
    EXPECT_EQ(Session(graph_).Run(value).num_elements(), 150'000);
    Session small(graph_, {.memory_limit = 1 << 20});
    const Status status = StatusOf([&] { small.Run(value); });
    EXPECT_EQ(status.code(), Code::kResourceExhausted);
    EXPECT_NE(status.message().find("choose a smaller batch"), std::string::npos);
  }
}

TEST_F(GraphIteratorTest, TwoNodesTakeTwoElements) {
  const GraphIterator iterator = OneShotIterator(Range(10));
  const Output a = iterator.GetNext()["value"], b = iterator.GetNext()["value"];
  Session session(graph_);
  const auto values = session.Run({a, b});
  EXPECT_EQ(values[0].AsInt64() + values[1].AsInt64(), 1);
  EXPECT_EQ(session.Run(a).AsInt64(), 2);
}

TEST_F(GraphIteratorTest, BeginsAnewWhenInitialised) {
  const GraphIterator iterator(Range(1).Spec(), {.name = "epochs"});
  const Output value = iterator.GetNext()["value"];
  const Operation train = iterator.MakeInitializer(Range(2));
  const Operation evaluate = iterator.MakeInitializer(Range(100, 102));
  EXPECT_EQ(StatusOf([&] { iterator.MakeInitializer(Pairs()); }).code(), Code::kInvalidArgument);
  Session session(graph_);
  EXPECT_EQ(StatusOf([&] { session.Run(value); }).code(), Code::kFailedPrecondition);
  for (int epoch = 0; epoch < 2; ++epoch) {
    session.Run(train);
    EXPECT_EQ(session.Run(value).AsInt64(), 0);
    EXPECT_EQ(session.Run(value).AsInt64(), 1);
    EXPECT_EQ(StatusOf([&] { session.Run(value); }).code(), Code::kOutOfRange);
    session.Run(evaluate);
    EXPECT_EQ(session.Run(value).AsInt64(), 100);
  }
}

TEST_F(GraphIteratorTest, StatesAreSavedAndRestoredByName) {
  const Dataset shuffled = Range(50).Shuffle(20, {.seed = 3}).Repeat();
  const Output a = OneShotIterator(shuffled, {.name = "a"}).GetNext()["value"];
  const Output b = OneShotIterator(Range(9), {.name = "b"}).GetNext()["value"];
  std::map<std::string, std::string> states;
  std::vector<int64_t> expected;
  {
    Session session(graph_);
    for (int i = 0; i < 30; ++i) session.Run(a);
    states = SaveIteratorStates(session.resources());
    ASSERT_EQ(states.size(), 1u);
    session.Run(b);
    states = SaveIteratorStates(session.resources());
    ASSERT_EQ(states.size(), 2u);
    for (int i = 0; i < 40; ++i) expected.push_back(session.Run(a).AsInt64());
  }
  Session resumed(graph_);
  for (int round = 0; round < 2; ++round) {  // before the first element, and in the middle
    RestoreIteratorStates(states, resumed.resources());
    std::vector<int64_t> values;
    for (int i = 0; i < 40; ++i) values.push_back(resumed.Run(a).AsInt64());
    EXPECT_EQ(values, expected);
    EXPECT_EQ(resumed.Run(b).AsInt64(), 1);
  }
  EXPECT_EQ(StatusOf([&] {
              RestoreIteratorStates({{"b", states["a"]}}, resumed.resources());
            }).code(),
            Code::kFailedPrecondition);
}

TEST_F(GraphIteratorTest, AWaitEndsWithTheSession) {
  // The second element is never made: its maker waits for the end of the iteration.
  std::latch begun(1), ended(1);
  const Dataset endless = Range(2).Map([&](Element e) {
    if (e["value"].scalar<int64_t>() == 1) {
      begun.count_down();
      ended.wait();
    }
    return e;
  });
  const Output value = OneShotIterator(endless).GetNext()["value"];
  auto session = std::make_unique<Session>(graph_);
  session->Run(value);
  std::thread runner([&] {
    EXPECT_EQ(StatusOf([&] { session->Run(value); }).code(), Code::kCancelled);
    ended.count_down();
  });
  begun.wait();
  session->Close();
  runner.join();
}

// Batches of unknown size are taken before the rest of a Run is planned.
TEST_F(GraphIteratorTest, TakesOneBatchPerRunWhateverItsSize) {
  const Output value = OneShotIterator(Range(7).Batch(3)).GetNext()["value"];
  const Output twice = value + value;
  Output after;
  {
    const ControlDependencies wait({value});
    after = twice * Const(Tensor(int64_t{10}));
  }
  Session session(graph_);
  EXPECT_TRUE(session.Run(after).Identical(Tensor::Of<int64_t>({0, 20, 40})));
  const auto both = session.Run({twice, after});
  EXPECT_TRUE(both[0].Identical(Tensor::Of<int64_t>({6, 8, 10})));
  EXPECT_TRUE(both[1].Identical(Tensor::Of<int64_t>({60, 80, 100})));
  EXPECT_TRUE(session.Run(twice).Identical(Tensor::Of<int64_t>({12})));
  EXPECT_EQ(StatusOf([&] { session.Run(after); }).code(), Code::kOutOfRange);
}

TEST_F(GraphIteratorTest, MappedBatchesMayBeSmallerAtTheEnd) {
  const Dataset batches = Range(5).Batch(2).Map([](Element e) { return e; });
  EXPECT_EQ(batches.Spec()[0].shape, (PartialShape{-1}));
  const Output value = OneShotIterator(batches).GetNext()["value"];
  Session session(graph_);
  for (const int64_t rows : {2, 2, 1}) EXPECT_EQ(session.Run(value).num_elements(), rows);
}

TEST_F(GraphIteratorTest, TheStateOfAnotherPipelineIsLeftAside) {
  const Output value = OneShotIterator(Range(9).Batch(2), {.name = "it"}).GetNext()["value"];
  Session session(graph_);
  session.Run(value);
  const auto states = SaveIteratorStates(session.resources());
  Graph other;
  const GraphScope use(other);
  const Output larger = OneShotIterator(Range(9).Batch(3), {.name = "it"}).GetNext()["value"];
  Session resumed(other);
  RestoreIteratorStates(states, resumed.resources(), /*or_begin_anew=*/true);
  EXPECT_TRUE(resumed.Run(larger).Identical(Tensor::Of<int64_t>({0, 1, 2})));
}

// What a dataset is called says nothing of what it does.
TEST_F(GraphIteratorTest, PrefetchesWhatDoesNot) {
  // Whether an iterator of the dataset, in a graph, iterates over `expected`.
  const auto iterates_over = [](const Dataset& dataset, const Dataset& expected,
                                bool prefetch = true) {
    Graph graph;
    const GraphScope use(graph);
    const auto next = OneShotIterator(dataset, {.name = "it", .prefetch = prefetch}).GetNext();
    Session session(graph);
    session.Run(next["value"]);
    const auto states = SaveIteratorStates(session.resources());
    return StatusOf([&] { expected.MakeIterator()->RestoreState(states.at("it")); }).ok();
  };
  const auto ones = [] {
    return [] { return std::optional(Element{{"value", Tensor(int64_t{1})}}); };
  };
  const Dataset range = Range(3), named = FromGenerator(ones, "a).Prefetch(");
  EXPECT_TRUE(iterates_over(range, range.Prefetch()));
  EXPECT_TRUE(iterates_over(range, range, false));
  EXPECT_TRUE(iterates_over(range.Prefetch(), range.Prefetch()));
  EXPECT_TRUE(iterates_over(range.Prefetch(2), range.Prefetch()));
  EXPECT_TRUE(iterates_over(range.Prefetch(0), range.Prefetch(0).Prefetch()));
  EXPECT_TRUE(iterates_over(named, named.Prefetch()));
}

TEST_F(GraphIteratorTest, BatchesCanBeFedInstead) {
  const ElementOutputs next = OneShotIterator(Pairs().Batch(2)).GetNext();
  const Output sum = next["x"] + next["x"];
  Session session(graph_);
  EXPECT_TRUE(session.Run({{next["x"], Tensor::Of<float>({1, 2}, {10, 20})}}, sum)
                  .Identical(Tensor::Of<float>({1, 2}, {20, 40})));
  // The other field comes from the data, of which nothing was taken before.
  const auto values = session.Run({{next["x"], Tensor::Of<float>({1, 2}, {1, 2})}},
                                  std::vector<Output>{sum, next["y"]});
  EXPECT_TRUE(values[0].Identical(Tensor::Of<float>({1, 2}, {2, 4})));
  EXPECT_TRUE(values[1].Identical(Tensor::Of<int64_t>({7, 8})));
}

TEST_F(GraphIteratorTest, SeveralNodesTakeBatchesInTheOrderTheyWereMade) {
  const GraphIterator iterator = OneShotIterator(Range(8).Batch(2));
  const Output first = iterator.GetNext()["value"], second = iterator.GetNext()["value"];
  Session session(graph_);
  const Callable call = session.MakeCallable({}, {second, first});
  for (const int64_t i : {0, 4}) {
    const auto values = call();
    EXPECT_TRUE(values[1].Identical(Tensor::Of<int64_t>({i, i + 1})));
    EXPECT_TRUE(values[0].Identical(Tensor::Of<int64_t>({i + 2, i + 3})));
  }
}

TEST_F(GraphIteratorTest, RunsTakeTurns) {
  const Output value = OneShotIterator(Range(400)).GetNext()["value"];
  Session session(graph_);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) sum += session.Run(value).AsInt64();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum, 399 * 400 / 2);
}

}  // namespace
}  // namespace sextant::data

#include "sextant/runtime/data_sources.h"

#include <gtest/gtest.h>

#include "sextant/base/cancellable_wait.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/control_flow/assert.h"
#include "sextant/ops/dataset/graph_iterator.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

data::GraphIterator Batches() {
  return data::OneShotIterator(data::Range(10).Batch(2));  // of unknown size
}

TEST(DataSourcesTest, BatchesThatWaitForEachOtherAreSources) {
  Graph graph;
  const GraphScope use(graph);
  const data::GraphIterator iterator = Batches();
  const Output first = iterator.GetNext()["value"];
  Output second, third;
  {
    const ControlDependencies after({first});
    second = iterator.GetNext()["value"];
  }
  {
    const ControlDependencies after({second});
    third = iterator.GetNext()["value"];
  }
  const Output sum = first + second + third;
  const std::vector<Output> fetches = {sum};
  EXPECT_EQ(SourcesOf(graph, {}, fetches, {}),
            (std::vector<Node*>{first.node(), second.node(), third.node()}));
  Session session(graph);
  const std::vector<Tensor> values = session.Run({first, third, sum});
  EXPECT_EQ(values[0].flat<int64_t>()[0], 0);
  EXPECT_EQ(values[1].flat<int64_t>()[0], 4);
  EXPECT_EQ(values[2].flat<int64_t>()[1], 1 + 3 + 5);
}

// Would not end, if each were asked for all that it waits for.
TEST(DataSourcesTest, EachMayWaitForAllBefore) {
  Graph graph;
  const GraphScope use(graph);
  const data::GraphIterator iterator = Batches();
  std::vector<Output> values = {iterator.GetNext()["value"]};
  for (int i = 1; i < 100; ++i) {
    const ControlDependencies after(std::vector<Operation>(values.begin(), values.end()));
    values.push_back(iterator.GetNext()["value"]);
  }
  EXPECT_EQ(SourcesOf(graph, {}, {{values.back()}}, {}).size(), 100u);
}

TEST(DataSourcesTest, WhatWaitsForSomethingElseIsNone) {
  Graph graph;
  const GraphScope use(graph);
  const data::GraphIterator iterator = Batches();
  const Output one = Const(1);
  const ControlDependencies after({one});
  const Output value = iterator.GetNext()["value"];
  const std::vector<Output> fetches = {value};
  EXPECT_TRUE(SourcesOf(graph, {}, fetches, {}).empty());
}

// The data of a run that failed are those of the next one: also of known shapes, and where a check
// could run before them.
TEST(DataSourcesTest, WhatAFailedRunReadIsKept) {
  for (const bool known_shape : {false, true}) {
    for (const bool checks_first : {false, true}) {
      Graph graph;
      const GraphScope use(graph);
      const data::GraphIterator iterator =
          data::OneShotIterator(data::Range(10).Batch(2, {.drop_remainder = known_shape}));
      const Output batch = iterator.GetNext()["value"];
      const Output ok = Placeholder(DType::kBool, Shape());
      std::vector<Operation> targets = {Assert(LogicalAnd(All(Equal(batch, batch), 0), ok), {ok})};
      if (checks_first) targets.push_back(Assert(Placeholder(DType::kBool, Shape(), "good"), {ok}));
      ASSERT_EQ(batch.shape().fully_known(), known_shape);
      Session session(graph);
      std::vector<Tensor> kept;
      FeedMap feeds = {{ok, Tensor(false)}};
      if (checks_first) feeds.emplace_back(graph.FindOutput("good:0"), Tensor(true));
      const auto run = [&](const RunOptions& options) {
        return session.Run(feeds, {batch}, targets, options)[0].flat<int64_t>()[0];
      };
      for (int i = 0; i < 2; ++i) EXPECT_THROW(run({.sources = &kept}), Error);
      EXPECT_EQ(kept.size(), 1u) << known_shape << checks_first;
      feeds[0].second = Tensor(true);
      EXPECT_EQ(run({.sources = &kept}), 0) << known_shape << checks_first;
      EXPECT_EQ(run({.sources = &kept}), 2);
      EXPECT_EQ(run({}), 4);
    }
  }
}

// In a large graph the search is a part of planning that takes long.
TEST(DataSourcesTest, TheSearchIsCancelled) {
  Graph graph;
  const GraphScope use(graph);
  const std::vector<Output> fetches = {Const(1) + Const(2)};
  CancellationToken token;
  const CancellationScope scope(&token);
  EXPECT_TRUE(SourcesOf(graph, {}, fetches, {}).empty());
  token.Cancel();
  EXPECT_EQ(StatusOf([&] { SourcesOf(graph, {}, fetches, {}); }).code(), Code::kCancelled);
}

}  // namespace
}  // namespace sextant

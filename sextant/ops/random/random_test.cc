#include "sextant/ops/random/random.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

// Expected numbers are TensorFlow's for seed 87654321, seed2 1: what an op's seed 1 gives.
class RandomTest : public testing::Test {
 protected:
  Graph graph_;
  GraphScope scope_{graph_};

  std::vector<float> Floats(Session& session, Output output) {
    const Tensor t = session.Run(output);
    const auto values = t.flat<float>();
    return {values.begin(), values.end()};
  }
};

TEST_F(RandomTest, StreamGoesOnFromRunToRunAndStartsAgainInANewSession) {
  const Output x = RandomUniform({3}, {.seed = 1});
  const std::vector<float> first = {0.2390373945f, 0.9203995466f, 0.0505124331f};
  Session session(graph_);
  EXPECT_EQ(Floats(session, x), first);
  EXPECT_EQ(Floats(session, x), (std::vector<float>{0.8514761925f, 0.2871236801f, 0.7976276875f}));
  Session again(graph_);
  EXPECT_EQ(Floats(again, x), first);
}

TEST_F(RandomTest, NodesWithEqualSeedsShareNothing) {
  const Output x = RandomUniform({3}, {.seed = 1}), y = RandomUniform({3}, {.seed = 1});
  Session session(graph_);
  EXPECT_EQ(Floats(session, x), Floats(session, y));
}

TEST_F(RandomTest, NormalNumbers) {
  const Output x = OpBuilder("RandomStandardNormal")
                       .Input(ConstInts({4}))
                       .Attr("dtype", DType::kFloat)
                       .Attr("seed", 87654321)
                       .Attr("seed2", 1)
                       .Build();
  Session session(graph_);
  const std::vector<uint32_t> bits = {0xbf4fb28d, 0x3fbe0755, 0x3d85cb68, 0xc01c5544};
  const Tensor value = session.Run(x).BitCast(DType::kUInt32);
  EXPECT_TRUE(std::ranges::equal(value.flat<uint32_t>(), bits));
}

TEST_F(RandomTest, SizesBeyondInt32AreKept) {
  EXPECT_EQ(TruncatedNormal({2, 5000000000}).shape(), (PartialShape{2, 5000000000}));
}

TEST_F(RandomTest, TruncatedNormalDrawsAgainWithinItsGroup) {
  const Output x = OpBuilder("TruncatedNormal")
                       .Input(ConstInts({6}))
                       .Attr("dtype", DType::kFloat)
                       .Attr("seed", 87654321)
                       .Attr("seed2", 1)
                       .Build();
  Session session(graph_);
  const std::vector<uint32_t> bits = {0xbf4fb28d, 0x3fbe0755, 0x3d85cb68,
                                      0x3dcb42bf, 0x3f23c330, 0x3fce3107};
  const Tensor value = session.Run(x).BitCast(DType::kUInt32);
  EXPECT_TRUE(std::ranges::equal(value.flat<uint32_t>(), bits));
}

TEST_F(RandomTest, Integers) {
  const Output small = RandomUniformInt({5}, -5, 100, {.seed = 1});
  const Output large =
      RandomUniformInt({3}, 0, int64_t{1} << 40, {.dtype = DType::kInt64, .seed = 1});
  Session session(graph_);
  EXPECT_TRUE(session.Run(small).Identical(Tensor::Of<int32_t>({67, 54, 28, 47, 62})));
  EXPECT_TRUE(session.Run(large).Identical(
      Tensor::Of<int64_t>({720130447559, 613937477425, 420922192485})));
  EXPECT_THROW(session.Run(RandomUniformInt({5}, 3, 3)), Error);
}

TEST_F(RandomTest, Shuffle) {
  const Output x = RandomShuffle(ConstInts({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}), {.seed = 1});
  Session session(graph_);
  EXPECT_TRUE(session.Run(x).Identical(Tensor::Of<int32_t>({7, 9, 3, 6, 5, 1, 8, 4, 0, 2})));
}

TEST_F(RandomTest, DoesNotDependOnTheNumberOfThreads) {
  const Output x = RandomNormal({100'001}, {.seed = 5});
  Session one(graph_, {.threads = 1}), all(graph_);
  EXPECT_TRUE(one.Run(x).Identical(all.Run(x)));
}

TEST_F(RandomTest, SeedRules) {
  const auto seeds = [&](std::optional<int64_t> graph_seed, std::optional<int64_t> seed) {
    Graph graph;
    graph.set_seed(graph_seed);
    const RandomSeeds s = MakeRandomSeeds(graph, seed);
    return std::pair(s.seed, s.seed2);
  };
  using Pair = std::pair<int64_t, int64_t>;
  EXPECT_EQ(seeds({}, {}), Pair(0, 0));
  EXPECT_EQ(seeds({}, 5), Pair(87654321, 5));
  EXPECT_EQ(seeds({}, -1), Pair(87654321, 2147483646));
  EXPECT_EQ(seeds({}, 2147483647), Pair(87654321, 0));
  EXPECT_EQ(seeds(-3, 5), Pair(2147483644, 5));
  EXPECT_EQ(seeds(7, {}), Pair(7, 0));
  EXPECT_EQ(seeds(0, {}), Pair(0, 2147483647));
  EXPECT_EQ(seeds(0, 0), Pair(0, 2147483647));
  Graph graph;
  graph.set_seed(0);
  MakeRandomSeeds(graph, {});
  MakeRandomSeeds(graph, 9);  // one with its own seed is not counted
  EXPECT_EQ(MakeRandomSeeds(graph, {}).seed2, 1);
}

TEST_F(RandomTest, BuildersScaleAsPythonDoes) {
  const Output x = RandomUniform({4}, {.min = -1, .max = 3, .seed = 1});
  EXPECT_EQ(x.node()->type(), "AddV2");
  EXPECT_EQ(RandomUniform({4}).node()->type(), "RandomUniform");
  EXPECT_EQ(RandomUniform({4}, {.max = 2}).node()->type(), "Mul");
  Session session(graph_);
  EXPECT_EQ(Floats(session, x)[0], 0.2390373945f * 4.0f + -1.0f);
}

}  // namespace
}  // namespace sextant

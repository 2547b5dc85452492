#include "sextant/ops/fused/elementwise_region.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "sextant/base/error.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/bias.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/math/unary.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/pseudo_random.h"

namespace sextant {
namespace {

struct RegionOutcome {
  std::vector<Tensor> values;
  int regions = 0, steps = 0;
};

RegionOutcome RunGraph(const Graph& graph, const FeedMap& feeds, const std::vector<Output>& fetches,
                       bool fuse) {
  Session session(graph, {.optimizer = {.fuse_elementwise = fuse}});
  StepTrace trace;
  RegionOutcome outcome{.values = session.Run(feeds, fetches, {}, {.trace = &trace})};
  for (const auto& event : trace.events()) {
    ++outcome.steps;
    outcome.regions += event.op == "_Elementwise";
  }
  return outcome;
}

// The same bits with regions and without; gives what happened with them.
RegionOutcome ExpectSameBits(const Graph& graph, const FeedMap& feeds,
                             const std::vector<Output>& fetches) {
  const RegionOutcome plain = RunGraph(graph, feeds, fetches, false);
  RegionOutcome fused = RunGraph(graph, feeds, fetches, true);
  EXPECT_EQ(plain.regions, 0);
  for (size_t i = 0; i < fetches.size(); ++i) {
    EXPECT_TRUE(fused.values[i].Identical(plain.values[i])) << fetches[i].name();
  }
  return fused;
}

TEST(ElementwiseRegionTest, ChainBecomesOneStep) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat), b = Placeholder(DType::kFloat);
  const Output y = Tanh(Relu(BiasAdd(x, b)) * 0.5 + Exp(-x));
  const RegionOutcome outcome =
      ExpectSameBits(graph, {{x, PseudoRandom({37, 19}, 1)}, {b, PseudoRandom({19}, 2)}}, {y});
  EXPECT_EQ(outcome.regions, 1);
}

TEST(ElementwiseRegionTest, WrongBiasStaysAnError) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat), b = Placeholder(DType::kFloat);
  const Output y = Relu(BiasAdd(x, b));
  EXPECT_THROW(
      RunGraph(graph, {{x, PseudoRandom({4, 3}, 1)}, {b, PseudoRandom({1}, 2)}}, {y}, true), Error);
}

TEST(ElementwiseRegionTest, LargeTensorsAreCutIntoTiles) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat), row = Placeholder(DType::kFloat);
  const Output block = Placeholder(DType::kFloat), s = Placeholder(DType::kFloat);
  const Output y =
      Sigmoid((x + row) * block - s) * LeakyRelu(x) + AddN({x, Softplus(x), Square(x)});
  const RegionOutcome outcome = ExpectSameBits(graph,
                                               {{x, PseudoRandom({61, 70, 33}, 1)},
                                                {row, PseudoRandom({33}, 2)},
                                                {block, PseudoRandom({1, 70, 33}, 3)},
                                                {s, Tensor(0.3f)}},
                                               {y});
  EXPECT_EQ(outcome.regions, 1);
}

TEST(ElementwiseRegionTest, ValuesReadElsewhereStay) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat);
  const Output inner = Exp(x * 2.0);
  const Output y = Log1p(inner) - x;
  const RegionOutcome outcome = ExpectSameBits(graph, {{x, PseudoRandom({100}, 1)}}, {inner, y});
  EXPECT_EQ(outcome.regions, 2);
}

TEST(ElementwiseRegionTest, NoRegionReadsItself) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat);
  const Output a = Exp(x);
  const Output outside = DeepCopy(a);
  const Output y = (a + outside) * a;
  ExpectSameBits(graph, {{x, PseudoRandom({50}, 1)}}, {y});
}

TEST(ElementwiseRegionTest, OtherBroadcastsAreLeftAlone) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat), column = Placeholder(DType::kFloat);
  const Output y = Exp(x - column) * 2.0;
  const RegionOutcome outcome =
      ExpectSameBits(graph, {{x, PseudoRandom({6, 7}, 1)}, {column, PseudoRandom({6, 1}, 2)}}, {y});
  EXPECT_EQ(outcome.regions, 1);
}

TEST(ElementwiseRegionTest, GradientsAreFusedToo) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat);
  const Output y = Elu(Tanh(Sigmoid(x) * x) + Selu(x) / (Square(x) + 1.0));
  const auto grads = Gradients(y, {x});
  const RegionOutcome outcome =
      ExpectSameBits(graph, {{x, PseudoRandom({64, 9}, 5)}}, {y, grads[0].dense()});
  EXPECT_GE(outcome.regions, 1);
}

TEST(ElementwiseRegionTest, ScalarsAndEmptyTensors) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat);
  const Output y = Sqrt(Abs(x) + 1.0) - x;
  ExpectSameBits(graph, {{x, Tensor(1.5f)}}, {y});
  ExpectSameBits(graph, {{x, PseudoRandom({0, 4}, 1)}}, {y});
  ExpectSameBits(graph, {{x, PseudoRandom({1, 1}, 1)}}, {y});
}

TEST(ElementwiseRegionTest, SeveralResults) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat);
  const auto add = static_cast<int64_t>(ElementwiseOp::kAdd);
  const auto square = static_cast<int64_t>(ElementwiseOp::kSquare);
  const auto outputs = OpBuilder("_Elementwise")
                           .Input(std::vector<Output>{x})
                           .Attr("M", 2)
                           .Attr("program", std::vector<int64_t>{square, 0, 0, add, 2, 1})
                           .Attr("results", std::vector<int64_t>{0, 1})
                           .Attr("constants", std::vector<float>{10.0f})
                           .BuildAll();
  const auto values = Session(graph).Run({{x, Tensor::Of<float>({1, 2, 3})}}, outputs);
  EXPECT_TRUE(values[0].Identical(Tensor::Of<float>({1, 4, 9})));
  EXPECT_TRUE(values[1].Identical(Tensor::Of<float>({11, 14, 19})));
}

TEST(ElementwiseProgramTest, RejectsWhatItCannotRun) {
  const std::vector<int64_t> ahead = {0, 1, 0}, partial = {0, 0}, unknown = {1000, 0, 0};
  const std::vector<int64_t> good = {0, 0, 0}, first = {0}, second = {1};
  EXPECT_THROW(ElementwiseProgram(1, {}, ahead, first), Error);
  EXPECT_THROW(ElementwiseProgram(1, {}, partial, first), Error);
  EXPECT_THROW(ElementwiseProgram(1, {}, unknown, first), Error);
  EXPECT_THROW(ElementwiseProgram(1, {}, good, second), Error);
  EXPECT_NO_THROW(ElementwiseProgram(1, {}, good, first));
}

}  // namespace
}  // namespace sextant

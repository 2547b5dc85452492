#include "sextant/dist/placement.h"

#include <gtest/gtest.h>

#include <numeric>

#include "sextant/base/error.h"
#include "sextant/graph/gradients.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/state/variable.h"
#include "sextant/train/optimizers.h"

namespace sextant::dist {
namespace {

Variable Zeros(const std::string& name, const Shape& shape) {
  return Variable(name, Tensor::Zeros(DType::kFloat, shape));
}

std::string DeviceOf(const Graph& graph, const std::string& name) {
  return graph.FindNode(name)->device();
}

TEST(Placement, LargestFirstToTheServerThatHasLeast) {
  Graph graph;
  const GraphScope use(graph);
  Zeros("b", {10});
  Zeros("a", {40});
  Zeros("d", {20});
  Zeros("c", {30});
  // 40 | 30 → 40 | 30+20 → 40+10 | 50, in floats
  EXPECT_EQ(PlaceVariables(graph, {.num_ps = 2}), (std::vector<int64_t>{200, 200}));
  EXPECT_EQ(DeviceOf(graph, "a"), "/job:ps/task:0");
  EXPECT_EQ(DeviceOf(graph, "c"), "/job:ps/task:1");
  EXPECT_EQ(DeviceOf(graph, "d"), "/job:ps/task:1");
  EXPECT_EQ(DeviceOf(graph, "b"), "/job:ps/task:0");
}

TEST(Placement, DoesNotDependOnTheOrderOfCreation) {
  Graph one, other;
  const auto make = [](Graph& graph, std::vector<std::string> names) {
    const GraphScope use(graph);
    for (const std::string& name : names) Zeros(name, {8});
    PlaceVariables(graph, {.num_ps = 3});
  };
  make(one, {"a", "b", "c", "d"});
  make(other, {"d", "b", "a", "c"});
  for (const char* name : {"a", "b", "c", "d"})
    EXPECT_EQ(DeviceOf(one, name), DeviceOf(other, name)) << name;
}

TEST(Placement, SlotsGoWithTheirVariablesAndScalarsToServer0) {
  Graph graph;
  const GraphScope use(graph);
  const Variable step("global_step", Tensor(int64_t{0}), {.trainable = false});
  const Variable small = Zeros("small", {10}), large = Zeros("large", {1000});
  const Output loss = Sum(small * small, {0}) + Sum(large * large, {0});
  train::Adam({.learning_rate = 0.1}).Minimize(loss, {.global_step = step});
  const std::vector<int64_t> bytes = PlaceVariables(graph, {.num_ps = 3});
  EXPECT_EQ(DeviceOf(graph, "global_step"), "/job:ps/task:0");
  EXPECT_EQ(DeviceOf(graph, "large"), DeviceOf(graph, "large/Adam"));
  EXPECT_EQ(DeviceOf(graph, "large"), DeviceOf(graph, "large/Adam_1"));
  EXPECT_NE(DeviceOf(graph, "large"), DeviceOf(graph, "small"));
  EXPECT_EQ(DeviceOf(graph, "beta1_power"), "/job:ps/task:0");
  // What counts the step and updates the powers needs nothing from the worker.
  for (int i = 0; i < graph.num_nodes(); ++i) {
    const Node& node = *graph.node(i);
    if (!node.name().starts_with("Adam/") || !node.type().starts_with("Assign")) continue;
    EXPECT_EQ(node.input(1).node()->device(), "/job:ps/task:0") << node.name();
  }
  EXPECT_EQ(std::accumulate(bytes.begin(), bytes.end(), int64_t{0}), 3 * 4 * 1010 + 8 + 2 * 4);
}

TEST(Placement, LeavesLocalVariablesAndThoseThatNameAJob) {
  Graph graph;
  const GraphScope use(graph);
  Variable("count", Tensor(0.0f),
           {.trainable = false, .collections = {std::string(kLocalVariables)}});
  {
    const DeviceScope worker("/job:worker/task:1");
    Zeros("own", {2});
  }
  PlaceVariables(graph, {.num_ps = 2});
  EXPECT_EQ(DeviceOf(graph, "count"), "");
  EXPECT_EQ(DeviceOf(graph, "own"), "/job:worker/task:1");
}

TEST(Placement, RoundRobinIsByCreation) {
  Graph graph;
  const GraphScope use(graph);
  for (int i = 0; i < 3; ++i) {
    Zeros("kernel" + std::to_string(i), {1000});
    Zeros("bias" + std::to_string(i), {10});
  }
  EXPECT_EQ(PlaceVariables(graph, {.num_ps = 2, .round_robin = true}),
            (std::vector<int64_t>{12000, 120}));
  EXPECT_THROW(PlaceVariables(graph, {.num_ps = 0}), Error);
}

}  // namespace
}  // namespace sextant::dist

#include "sextant/train/device_setter.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"

namespace sextant::train {
namespace {

std::string DeviceOf(const Output& output) { return output.node()->device(); }
Variable Made(const std::string& name, int64_t floats) {
  return Variable(name, Zeros(Shape{floats}));
}

TEST(DeviceSetterTest, PutsVariablesApartFromTheRest) {
  Graph graph;
  const GraphScope use(graph);
  const DeviceScope task("/job:worker/task:1");
  const DeviceScope tower(LocalDeviceSetter({.worker_device = "/gpu:2"}));
  const Variable w = Made("w", 3);
  const Output sum = w + w;
  EXPECT_EQ(DeviceOf(w.handle()), "/job:worker/task:1/device:CPU:0");
  EXPECT_EQ(DeviceOf(w.value()), DeviceOf(w.handle()));
  EXPECT_EQ(w.initializer().node()->device(), DeviceOf(w.handle()));
  EXPECT_EQ(DeviceOf(sum), "/job:worker/task:1/device:GPU:2");
  {
    const DeviceScope inside("/cpu:1");  // wins over the function
    EXPECT_EQ(DeviceOf(Made("v", 3).handle()), "/job:worker/task:1/device:CPU:1");
    EXPECT_EQ(DeviceOf(sum + sum), "/job:worker/task:1/device:CPU:1");
  }
  const DeviceScope none("");
  EXPECT_EQ(DeviceOf(sum + sum), "");
}

TEST(DeviceSetterTest, FunctionsNestFromTheInsideOut) {
  Graph graph;
  const GraphScope use(graph);
  std::vector<std::string> seen;
  const DeviceScope outer([&](const NodeSpec& node) {
    seen.push_back(node.name + " " + node.device);
    return "/job:a" + node.device;
  });
  const DeviceScope inner([](const NodeSpec&) { return "/gpu:1"; });
  EXPECT_EQ(DeviceOf(Const(Tensor(1.0f), "c")), "/job:a/device:GPU:1");
  EXPECT_EQ(seen, std::vector<std::string>{"c /device:GPU:1"});
  EXPECT_THROW(DeviceScope{DeviceFunction()}, Error);
  const DeviceScope wrong([](const NodeSpec&) { return "/nothing/of/the/kind"; });
  EXPECT_THROW(Const(Tensor(1.0f)), Error);
}

TEST(DeviceSetterTest, RoundRobinTakesTurns) {
  Graph graph;
  const GraphScope use(graph);
  const DeviceScope on(LocalDeviceSetter({.ps_device_type = "gpu", .num_devices = 2}));
  EXPECT_EQ(DeviceOf(Made("a", 100).handle()), "/device:GPU:0");
  EXPECT_EQ(DeviceOf(Made("b", 1).handle()), "/device:GPU:1");
  EXPECT_EQ(DeviceOf(Made("c", 1).handle()), "/device:GPU:0");
  EXPECT_THROW(RoundRobin(0), Error);
}

TEST(DeviceSetterTest, GreedyLoadBalancingTakesTheLeastLoadedByBytes) {
  Graph graph;
  const GraphScope use(graph);
  const DeviceScope on(LocalDeviceSetter(
      {.ps_device_type = "gpu", .num_devices = 2, .ps_strategy = GreedyLoadBalancing(2)}));
  EXPECT_EQ(DeviceOf(Made("a", 100).handle()), "/device:GPU:0");  // 400 and 0 bytes
  EXPECT_EQ(DeviceOf(Made("b", 60).handle()), "/device:GPU:1");   // 400 and 240
  EXPECT_EQ(DeviceOf(Made("c", 39).handle()), "/device:GPU:1");   // 400 and 396
  EXPECT_EQ(DeviceOf(Made("d", 1).handle()), "/device:GPU:1");    // 400 and 400
  const Variable doubles("e", Zeros(Shape{60}, DType::kDouble));  // 880 and 400
  EXPECT_EQ(DeviceOf(doubles.handle()), "/device:GPU:0");
  EXPECT_EQ(DeviceOf(Made("f", 1).handle()), "/device:GPU:1");
  try {
    Variable unknown("g", Placeholder(DType::kFloat, PartialShape{-1}));
    FAIL() << "its size is not known";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
  }
}

TEST(DeviceSetterTest, ReplicasTakeVariablesOfUnknownSize) {
  Graph graph;
  const GraphScope use(graph);
  const DeviceScope replica(ReplicaDeviceSetter({{"ps", {"a:1", "b:1"}}, {"worker", {"c:1"}}}));
  EXPECT_EQ(DeviceOf(Made("a", 100).handle()), "/job:ps/task:0");  // 400 and 0 bytes
  const Variable unknown("b", Placeholder(DType::kFloat, PartialShape{-1}));
  EXPECT_EQ(DeviceOf(unknown.handle()), "/job:ps/task:1");
  EXPECT_EQ(DeviceOf(Made("c", 101).handle()), "/job:ps/task:1");  // 400 and 404
  const Variable any("d", Const(Tensor(1.0f)), {.shape = PartialShape()});
  EXPECT_EQ(DeviceOf(any.handle()), "/job:ps/task:0");
}

// One graph, variables on /cpu:0, towers on /cpu:0 and /cpu:1.
TEST(DeviceSetterTest, TowersRunOnSeveralDevices) {
  Graph graph;
  const GraphScope use(graph);
  std::vector<Output> results;
  for (int i = 0; i < 2; ++i) {
    const VariableScope scope("model", i == 0 ? Reuse::kInherit : Reuse::kTrue);
    const DeviceScope tower(LocalDeviceSetter({.worker_device = "/cpu:" + std::to_string(i)}));
    const Variable w = GetVariable("w", [] { return Const(Tensor(3.0f)); });
    results.push_back(w * static_cast<double>(i + 1));
    EXPECT_EQ(DeviceOf(w.handle()), "/device:CPU:0");
  }
  Session session(graph, {.host_devices = 2, .allow_soft_placement = false});
  session.Run(GlobalVariablesInitializer());
  EXPECT_EQ(session.Run(results[0]).scalar<float>(), 3);
  EXPECT_EQ(session.Run(results[1]).scalar<float>(), 6);
}

TEST(CollectionScopeTest, FiltersByTheBeginningOfNames) {
  Graph graph;
  const GraphScope use(graph);
  for (const char* tower : {"tower_0", "tower_1", "tower_10"}) {
    const NameScope scope(tower);
    graph.AddToCollection("losses", Const(Tensor(1.0f), "loss"));
    Made("w", 1);
  }
  EXPECT_EQ(graph.Collection("losses").size(), 3u);
  const std::vector<Output> found = graph.Collection("losses", "tower_1/");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].node()->name(), "tower_1/loss");
  EXPECT_TRUE(graph.Collection("losses", "ower").empty());
  ASSERT_EQ(CollectedVariables(kTrainableVariables, "tower_1").size(), 2u);
}

}  // namespace
}  // namespace sextant::train

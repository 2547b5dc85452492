#include <gtest/gtest.h>

#include "sextant/device/device.h"
#include "sextant/sextant.h"

namespace sextant {
namespace {

std::string DeviceOf(const StepTrace& trace, const std::string& node) {
  for (const StepTrace::Event& e : trace.events()) {
    if (e.node == node) return e.device;
  }
  return "";
}

TEST(PlacementTest, RunsNodesWhereTheyAskToBe) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, {}, "x");
  Output y, z;
  {
    DeviceScope on("/cpu:1");
    y = OpBuilder("Square").Input(x).Name("y").Build();
  }
  z = OpBuilder("Neg").Input(y).Name("z").Build();
  Session session(graph, {.host_devices = 2, .allow_soft_placement = false});
  ASSERT_EQ(session.devices().size(), 2u);
  StepTrace trace;
  EXPECT_EQ(session.Run({{x, Tensor(3.0f)}}, z, {.trace = &trace}).scalar<float>(), -9.0f);
  EXPECT_EQ(DeviceOf(trace, "y"), "/job:localhost/replica:0/task:0/device:CPU:1");
  EXPECT_EQ(DeviceOf(trace, "z"), "/job:localhost/replica:0/task:0/device:CPU:0");
}

TEST(PlacementTest, ResourceOpsStayWithTheirVariable) {
  Graph graph;
  GraphScope use(graph);
  Variable v;
  {
    DeviceScope on("/cpu:1");
    v = Variable("v", Tensor(1.0f));
  }
  const Output next = v.AssignAdd(Const(Tensor(2.0f)));
  Session session(graph, {.host_devices = 2});
  session.Run(v.initializer());
  StepTrace trace;
  EXPECT_EQ(session.Run({}, next, {.trace = &trace}).scalar<float>(), 3.0f);
  for (const StepTrace::Event& e : trace.events()) {
    EXPECT_TRUE(e.op != "AssignAddVariableOp" || e.device.ends_with("CPU:1"));
  }
}

TEST(PlacementTest, MissingDeviceIsReplacedOnlySoftly) {
  Graph graph;
  GraphScope use(graph);
  Output y;
  {
    DeviceScope on("/gpu:3");
    y = OpBuilder("Square").Input(Const(Tensor(3.0f))).Name("y").Build();
  }
  Session soft(graph);
  EXPECT_EQ(soft.Run(y).scalar<float>(), 9.0f);
  Session strict(graph, {.allow_soft_placement = false});
  try {
    strict.Run(y);
    FAIL() << "it ran";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(e.message().find("GPU:3"), std::string::npos) << e.message();
    EXPECT_NE(e.message().find("CPU:0"), std::string::npos) << e.message();
  }
}

TEST(TraceTest, TimelineAndStepStatsNameNodesAndBytes) {
  Graph graph;
  GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, {}, "x");
  const Output y = OpBuilder("Square").Input(x).Name("square").Build();
  const Output z = OpBuilder("Sum").Input(y).Input(ConstInts({0})).Name("total").Build();
  Session session(graph);
  StepTrace trace;
  session.Run({{x, Tensor::Of<float>({1, 2, 3})}}, z, {.trace = &trace});
  ASSERT_EQ(trace.events().size(), 2u);
  EXPECT_EQ(trace.events()[0].node, "square");
  EXPECT_EQ(trace.events()[0].output_bytes, 12);
  EXPECT_LE(trace.events()[0].end_ns, trace.events()[1].start_ns);
  const std::string json = trace.ChromeTrace();
  EXPECT_NE(json.find("\"traceEvents\""), std::string::npos);
  EXPECT_NE(json.find("\"name\": \"total\""), std::string::npos) << json;
}

}  // namespace
}  // namespace sextant

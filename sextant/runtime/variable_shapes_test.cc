#include "sextant/runtime/variable_shapes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sextant/sextant.h"
#include "sextant/testing/local_cluster_fixture.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

using VariableShapesTest = LocalClusterFixture;

// The kernel that one process takes for the gradient of a filter needs to know the filter's shape.
TEST_F(VariableShapesTest, GradientsOfRemoteFiltersRunAsInOneProcess) {
  Tensor filter(DType::kFloat, {3, 3, 16, 16}), image(DType::kFloat, {2, 8, 8, 16});
  for (Tensor* tensor : {&filter, &image}) {
    std::span<float> values = tensor->flat<float>();
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
  }
  const Variable w = VariableOn(kPs0, "w", filter);
  const Output x = Placeholder(DType::kFloat, {-1, 8, 8, 16}, "x");
  const Output y = Relu(Conv2D(Relu(Conv2D(x, w, {.padding = "SAME"})), w, {.padding = "SAME"}));
  const Output gradient = Gradients(Sum(y, {0, 1, 2, 3}), {w.handle()})[0];
  const auto run = [&](Session& session, std::vector<std::string>& ops) {
    session.Run(w.initializer());
    StepTrace trace;
    const std::vector<Tensor> values =
        session.Run(FeedMap{{x, image}}, {gradient}, {}, {.trace = &trace});
    for (const StepTrace::Event& event : trace.events()) ops.push_back(event.op);
    return values[0];
  };
  std::vector<std::string> ops_here, ops_there;
  Session alone(graph_, {.allow_soft_placement = true});
  Session session(graph_, {}, cluster_.environment(0));
  const Tensor expected = run(alone, ops_here);
  EXPECT_TRUE(run(session, ops_there).Identical(expected));
  const auto gradients = [](const std::vector<std::string>& ops, const char* type) {
    return std::ranges::count(ops, type);
  };
  EXPECT_EQ(gradients(ops_there, "Conv2DBackpropFilter"),
            gradients(ops_here, "Conv2DBackpropFilter"));
  EXPECT_EQ(gradients(ops_there, "_BlockedConv2DBackpropFilter"),
            gradients(ops_here, "_BlockedConv2DBackpropFilter"));
}

TEST_F(VariableShapesTest, VariablesMustStillBeInitialised) {
  const Variable w = VariableOn(kPs0, "w", Tensor::Of<float>({1, 2, 3}));
  Session session(graph_, {}, cluster_.environment(0));
  for (const Output& asked : {ShapeOf(w.value()), Size(w.value()), Rank(w.value())}) {
    const Output used = Identity(asked);
    EXPECT_EQ(StatusOf([&] { session.Run(used); }).code(), Code::kFailedPrecondition);
  }
  session.Run(w.initializer());
  EXPECT_TRUE(session.Run(Identity(Size(w.value()))).Identical(Tensor(3)));
}

TEST_F(VariableShapesTest, NodesThatWaitAreLeft) {
  const Variable w = VariableOn(kPs0, "w", Tensor::Of<float>({1, 2, 3}));
  const Output free = ShapeOf(Identity(ReadVariable(w.handle())));
  Output bound;
  {
    const ControlDependencies after(
        {Operation(w.AssignAdd(Const(Tensor::Of<float>({1, 1, 1}))).node())});
    bound = ShapeOf(w.value());
  }
  const Node* of_free = Identity(free).node();
  const Node* of_bound = Identity(bound).node();
  const std::vector<Output> measured = UseVariableShapes(graph_);
  ASSERT_EQ(measured.size(), 1u);
  EXPECT_EQ(measured[0], free.node()->input(0));
  EXPECT_EQ(of_free->input(0).node()->type(), "Const");
  EXPECT_EQ(of_bound->input(0), bound);
}

}  // namespace
}  // namespace sextant

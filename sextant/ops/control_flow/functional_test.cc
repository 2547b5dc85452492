#include "sextant/ops/control_flow/functional.h"

#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/control_flow/control_flow_test.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/state/variable.h"

namespace sextant {
namespace {

class FunctionalTest : public ControlFlowTest {};

TEST_F(FunctionalTest, CondRunsOneBranch) {
  const Output x = Placeholder(DType::kFloat, {2}), p = Placeholder(DType::kBool, Shape());
  const Output y = Cond(
      p, [&] { return Vars{x * 2.0}; }, [&] { return Vars{x}; })[0];
  EXPECT_EQ(y.node()->type(), "StatelessIf");
  EXPECT_EQ(y.shape().ToString(), "[2]");
  const Tensor value = Tensor::Of<float>({1, 2});
  EXPECT_EQ(Floats(y, {{x, value}, {p, Tensor(true)}}), (std::vector<float>{2, 4}));
  EXPECT_EQ(Floats(y, {{x, value}, {p, Tensor(false)}}), (std::vector<float>{1, 2}));
}

TEST_F(FunctionalTest, CondKeepsEffects) {
  const Output handle = VarHandle(DType::kFloat, Shape(), "v");
  const Output p = Placeholder(DType::kBool, Shape());
  const auto add = [&](float amount) {
    return [&, amount] {
      OpBuilder("AssignAddVariableOp").Input(handle).Input(Const(Tensor(amount))).BuildNode();
      return Vars{Const(Tensor(amount))};
    };
  };
  const Output y = Cond(p, add(1), add(10))[0];
  EXPECT_EQ(y.node()->type(), "If");
  const Operation init =
      OpBuilder("AssignVariableOp").Input(handle).Input(Const(Tensor(0.f))).BuildOperation();
  const Output read = ReadVariable(handle);
  Session session(graph_);
  session.Run(init);
  session.Run({{p, Tensor(true)}}, y);
  session.Run({{p, Tensor(false)}}, y);
  EXPECT_EQ(session.Run(read).AsDouble(), 11);
}

TEST_F(FunctionalTest, SwitchCaseDefaults) {
  const Output i = Placeholder(DType::kInt32, Shape());
  const auto give = [](float v) { return [v] { return Vars{Const(Tensor(v))}; }; };
  const Output y = SwitchCase(i, {give(1), give(2)}, give(3))[0];
  for (auto [index, expected] : {std::pair{0, 1.f}, {1, 2.f}, {2, 3.f}, {-1, 3.f}, {99, 3.f}}) {
    EXPECT_EQ(Run(y, {{i, Tensor(index)}}).AsDouble(), expected) << index;
  }
}

TEST_F(FunctionalTest, WhileCountsAndCaptures) {
  const Output step = Placeholder(DType::kFloat, Shape());
  const Vars y = While([](const Vars& v) { return Less(v[0], Const(Tensor(5))); },
                       [&](const Vars& v) {
                         return Vars{v[0] + 1.0, v[1] + step};
                       },
                       {Const(Tensor(0)), Const(Tensor(1.f))});
  ASSERT_EQ(y.size(), 2u);
  EXPECT_EQ(Run(y[1], {{step, Tensor(2.f)}}).AsDouble(), 11);
}

TEST_F(FunctionalTest, WhileStopsAtMaximumIterations) {
  const Vars y = While([](const Vars&) { return Const(Tensor(true)); },
                       [](const Vars& v) { return Vars{v[0] * 2.0}; }, {Const(Tensor(1.f))},
                       {.maximum_iterations = 4});
  EXPECT_EQ(Run(y[0]).AsDouble(), 16);
}

TEST_F(FunctionalTest, WhileWithGrowingShape) {
  const auto grow = [&](const WhileOptions& options) {
    return While([](const Vars& v) { return Less(v[0], Const(Tensor(3))); },
                 [](const Vars& v) {
                   return Vars{v[0] + 1.0, Concat({v[1], v[1]}, 0)};
                 },
                 {Const(Tensor(0)), Const(Tensor::Of<float>({1}))}, options)[1];
  };
  EXPECT_THROW(grow({}), Error);
  const Output y = grow({.shape_invariants = {Shape(), {-1}}});
  EXPECT_EQ(y.shape().ToString(), "[?]");
  EXPECT_EQ(Run(y).shape().ToString(), "[8]");
}

TEST_F(FunctionalTest, NestedFunctionsBesideEachOther) {
  const Output p = Placeholder(DType::kBool, Shape()), x = Placeholder(DType::kFloat, Shape());
  const auto inner = [&](float factor) {
    return [&, factor] {
      return Cond(
          Greater(x, Const(Tensor(0.f))), [&] { return Vars{x * factor}; },
          [&] { return Vars{x - factor}; });
    };
  };
  const Output y = Cond(p, inner(2), inner(3))[0];
  EXPECT_EQ(Run(y, {{p, Tensor(true)}, {x, Tensor(5.f)}}).AsDouble(), 10);
  EXPECT_EQ(Run(y, {{p, Tensor(false)}, {x, Tensor(5.f)}}).AsDouble(), 15);
  EXPECT_EQ(Run(y, {{p, Tensor(false)}, {x, Tensor(-5.f)}}).AsDouble(), -8);
}

TEST_F(FunctionalTest, BranchesMustAgree) {
  const Output p = Const(Tensor(true));
  const auto give = [](Tensor v) { return [v] { return Vars{Const(v)}; }; };
  EXPECT_THROW(Cond(p, give(Tensor(1.f)), give(Tensor(1))), Error);
  EXPECT_THROW(Cond(p, give(Tensor(1.f)), [] { return Vars{}; }), Error);
  EXPECT_THROW(SwitchCase(Const(Tensor(0)), {}), Error);
}

}  // namespace
}  // namespace sextant

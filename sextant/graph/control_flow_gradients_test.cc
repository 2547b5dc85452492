#include "sextant/graph/control_flow_gradients.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/control_flow/functional.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

using Vars = std::vector<Output>;

class ControlFlowGradientsTest : public testing::Test {
 protected:
  Output Scalar(const char* name) { return Placeholder(DType::kDouble, Shape(), name); }
  double Run(Output y, const FeedMap& feeds) { return Session(graph_).Run(feeds, y).AsDouble(); }

  // The gradient of y by x against a central difference at the given point.
  void ExpectGradient(Output y, Output x, FeedMap feeds) {
    const Gradient gradient = Gradients(y, {x})[0];
    ASSERT_FALSE(gradient.none());
    const Output dense = gradient.dense();
    Session session(graph_);
    const double analytic = session.Run(feeds, dense).AsDouble();
    const auto at = [&](double step) {
      FeedMap moved = feeds;
      for (auto& [tensor, value] : moved) {
        if (tensor == x) value = Tensor(value.AsDouble() + step);
      }
      return session.Run(moved, y).AsDouble();
    };
    const double numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
    EXPECT_NEAR(analytic, numeric, 1e-6 * std::max(1.0, std::abs(numeric)));
  }

  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(ControlFlowGradientsTest, SwitchAndMerge) {
  const Output x = Scalar("x"), p = Placeholder(DType::kBool, Shape(), "p");
  const SwitchOutputs sides = Switch(x, p);
  const Output y =
      Merge({sides.output_false * sides.output_false, Sin(sides.output_true)}).output * 2.0;
  const Output gradient = Gradients(y, {x})[0];
  EXPECT_DOUBLE_EQ(Run(gradient, {{x, Tensor(3.0)}, {p, Tensor(false)}}), 12);
  EXPECT_DOUBLE_EQ(Run(gradient, {{x, Tensor(3.0)}, {p, Tensor(true)}}), 2 * std::cos(3.0));
}

TEST_F(ControlFlowGradientsTest, SwitchOfWhichOneSideMatters) {
  const Output x = Scalar("x"), p = Placeholder(DType::kBool, Shape(), "p");
  const SwitchOutputs sides = Switch(x, p);
  const Output y =
      Merge({Switch(Const(Tensor(7.0)), p).output_false, sides.output_true * 3.0}).output;
  const Output gradient = Gradients(y, {x})[0];
  EXPECT_DOUBLE_EQ(Run(gradient, {{x, Tensor(1.0)}, {p, Tensor(false)}}), 0);
  EXPECT_DOUBLE_EQ(Run(gradient, {{x, Tensor(1.0)}, {p, Tensor(true)}}), 3);
}

TEST_F(ControlFlowGradientsTest, Cond) {
  const Output x = Scalar("x"), w = Scalar("w");
  const Output y = Cond(
      Greater(x, Const(Tensor(0.0))), [&] { return Vars{Sin(x * w) * x}; },
      [&] { return Vars{x * x * x}; })[0];
  for (double at : {-1.5, 0.7}) {
    const FeedMap feeds = {{x, Tensor(at)}, {w, Tensor(1.3)}};
    ExpectGradient(y, x, feeds);
    ExpectGradient(y, w, feeds);
  }
}

TEST_F(ControlFlowGradientsTest, SecondOrderThroughCond) {
  const Output x = Scalar("x");
  const Output y = Cond(
      Greater(x, Const(Tensor(0.0))), [&] { return Vars{x * x * x}; },
      [&] { return Vars{Sin(x)}; })[0];
  const Output first = Gradients(y, {x})[0];
  const Output second = Gradients(first, {x})[0];
  EXPECT_DOUBLE_EQ(Run(second, {{x, Tensor(2.0)}}), 12);
  EXPECT_DOUBLE_EQ(Run(second, {{x, Tensor(-1.0)}}), -std::sin(-1.0));
}

TEST_F(ControlFlowGradientsTest, SwitchCase) {
  const Output x = Scalar("x"), i = Placeholder(DType::kInt32, Shape(), "i");
  const Output y = SwitchCase(i, {[&] { return Vars{x * x}; }, [&] { return Vars{Sin(x)}; }},
                              [&] { return Vars{x * 5.0}; })[0];
  const Output gradient = Gradients(y, {x})[0];
  EXPECT_DOUBLE_EQ(Run(gradient, {{x, Tensor(2.0)}, {i, Tensor(0)}}), 4);
  EXPECT_DOUBLE_EQ(Run(gradient, {{x, Tensor(2.0)}, {i, Tensor(1)}}), std::cos(2.0));
  EXPECT_DOUBLE_EQ(Run(gradient, {{x, Tensor(2.0)}, {i, Tensor(9)}}), 5);
}

TEST_F(ControlFlowGradientsTest, WhileWithInvariant) {
  const Output x = Scalar("x"), w = Scalar("w"), n = Placeholder(DType::kInt32, Shape(), "n");
  const Output y = While([&](const Vars& v) { return Less(v[0], n); },
                         [&](const Vars& v) {
                           return Vars{v[0] + 1.0, Sin(v[1] * w) + x};
                         },
                         {Const(Tensor(0)), x})[1];
  for (int steps : {0, 1, 5}) {
    const FeedMap feeds = {{x, Tensor(0.4)}, {w, Tensor(0.9)}, {n, Tensor(steps)}};
    ExpectGradient(y, x, feeds);
    ExpectGradient(y, w, feeds);
  }
}

TEST_F(ControlFlowGradientsTest, NestedLoopsAndConds) {
  const Output x = Scalar("x");
  const Output limit = Const(Tensor(4));
  const Output y =
      While([&](const Vars& v) { return Less(v[0], limit); },
            [&](const Vars& v) {
              const Output even = Equal(FloorMod(v[0], Const(Tensor(2))), Const(Tensor(0)));
              const Output next = Cond(
                  even,
                  [&] {
                    return Vars{While([&](const Vars& u) { return LessEqual(u[0], v[0]); },
                                      [&](const Vars& u) {
                                        return Vars{u[0] + 1.0, u[1] * x + Sin(u[1])};
                                      },
                                      {Const(Tensor(0)), v[1]})[1]};
                  },
                  [&] { return Vars{v[1] * v[1] * 0.5 + x}; })[0];
              return Vars{v[0] + 1.0, next};
            },
            {Const(Tensor(0)), x})[1];
  ExpectGradient(y, x, {{x, Tensor(0.7)}});
}

TEST_F(ControlFlowGradientsTest, SecondOrderThroughWhile) {
  const Output x = Scalar("x");
  const Output y = While([](const Vars& v) { return Less(v[0], Const(Tensor(3))); },
                         [](const Vars& v) {
                           return Vars{v[0] + 1.0, v[1] * v[1]};
                         },
                         {Const(Tensor(0)), x})[1];  // x^8
  const Output first = Gradients(y, {x})[0];
  const Output second = Gradients(first, {x})[0];
  EXPECT_NEAR(Run(first, {{x, Tensor(1.1)}}), 8 * std::pow(1.1, 7), 1e-12);
  EXPECT_NEAR(Run(second, {{x, Tensor(1.1)}}), 56 * std::pow(1.1, 6), 1e-12);
}

TEST_F(ControlFlowGradientsTest, VariableReadInALoop) {
  const Output handle = VarHandle(DType::kDouble, Shape(), "v");
  const Output x = Scalar("x");
  const Output y = While([](const Vars& v) { return Less(v[0], Const(Tensor(3))); },
                         [&](const Vars& v) {
                           return Vars{v[0] + 1.0, v[1] * ReadVariable(handle)};
                         },
                         {Const(Tensor(0)), x})[1];  // x v^3
  const Output gradient = Gradients(y, {handle})[0];
  Session session(graph_);
  session.Run(
      OpBuilder("AssignVariableOp").Input(handle).Input(Const(Tensor(2.0))).BuildOperation());
  EXPECT_DOUBLE_EQ(session.Run({{x, Tensor(5.0)}}, gradient).AsDouble(), 60);
}

TEST_F(ControlFlowGradientsTest, ForwardOutputsStayWhereTheyWere) {
  const Output x = Scalar("x");
  const Vars results = While([](const Vars& v) { return Less(v[0], Const(Tensor(3))); },
                             [](const Vars& v) {
                               return Vars{v[0] + 1.0, Sin(v[1])};
                             },
                             {Const(Tensor(0)), x});
  const int id = results[1].node()->id();
  const double before = Run(results[1], {{x, Tensor(0.5)}});
  Gradients(results[1], {x});
  Gradients(results[1], {x});
  EXPECT_EQ(results[1].node()->id(), id);
  EXPECT_DOUBLE_EQ(Run(results[1], {{x, Tensor(0.5)}}), before);
}

// Lists cannot go from one task to another, so all that has to do with them is where the loop is.
TEST_F(ControlFlowGradientsTest, ListsAndGradientAreWhereTheLoopIs) {
  const Output x = Scalar("x");
  for (const char* device : {"/job:worker/task:1", ""}) {
    Output y;
    {
      const DeviceScope on(device);
      y = While([](const Vars& v) { return Less(v[0], 10.0); },
                [](const Vars& v) { return Vars{v[0] * v[0]}; }, {x})[0];
    }
    const int before = graph_.num_nodes();
    {
      const DeviceScope on("/job:ps/task:0");
      Gradients(y, {x});
    }
    int lists = 0, loops = 0;
    for (int id = before; id < graph_.num_nodes(); ++id) {
      const Node& node = *graph_.node(id);
      if (node.type() == "EmptyTensorList") {
        ++lists;
      } else if (node.type() == "StatelessWhile") {
        ++loops;
      } else {
        continue;
      }
      EXPECT_EQ(node.device(), y.node()->device()) << node.name();
    }
    EXPECT_EQ(lists, 1);
    EXPECT_EQ(loops, 1);
  }
}

}  // namespace
}  // namespace sextant

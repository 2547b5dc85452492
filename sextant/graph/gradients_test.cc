#include "sextant/graph/gradients.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class GradientsTest : public testing::Test {
 protected:
  static std::vector<double> Values(const Tensor& tensor) {
    std::vector<double> values;
    for (float v : tensor.flat<float>()) values.push_back(v);
    return values;
  }
  std::vector<double> Run(Output y, const FeedMap& feeds = {}) {
    return Values(Session(graph_).Run(feeds, y));
  }
  Graph graph_;
  GraphScope scope_{graph_};
  Output x_ = Placeholder(DType::kFloat, {2}, "x");
  const FeedMap feeds_ = {{x_, Tensor::Of<float>({2, 3})}};
};

TEST_F(GradientsTest, SumsTheContributionsOfAllUsers) {
  const Output y = x_ * x_ + x_;  // 2x + 1
  EXPECT_EQ(Run(Gradients(y, {x_})[0], feeds_), (std::vector<double>{5, 7}));
}

TEST_F(GradientsTest, IntermediateAndUnrelatedTensors) {
  const Output other = Placeholder(DType::kFloat, {2});
  const Output square = x_ * x_;
  const Output y = square * 3.0;
  const std::vector<Gradient> gradients = Gradients(y, {square, x_, other, y});
  EXPECT_EQ(Run(gradients[0], feeds_), (std::vector<double>{3, 3}));
  EXPECT_EQ(Run(gradients[1], feeds_), (std::vector<double>{12, 18}));
  EXPECT_TRUE(gradients[2].none());
  EXPECT_EQ(Run(gradients[3], feeds_), (std::vector<double>{1, 1}));
}

TEST_F(GradientsTest, SeveralYsAndGivenGradients) {
  const Output a = x_ * 2.0, b = x_ * x_;
  GradientOptions options;
  options.grad_ys = {Const(Tensor::Of<float>({10, 20})), Output()};
  EXPECT_EQ(Run(Gradients({a, b}, {x_}, options)[0], feeds_), (std::vector<double>{24, 46}));
}

TEST_F(GradientsTest, StopsWhereTold) {
  const Output square = x_ * x_;
  GradientOptions options;
  options.stop_gradients = {square};
  const std::vector<Gradient> gradients = Gradients(square * x_, {x_, square}, options);
  EXPECT_EQ(Run(gradients[0], feeds_), (std::vector<double>{4, 9}));
  EXPECT_EQ(Run(gradients[1], feeds_), (std::vector<double>{2, 3}));
  EXPECT_TRUE(Gradients(StopGradient(x_), {x_})[0].none());
}

TEST_F(GradientsTest, SecondOrder) {
  const Output y = x_ * x_ * x_;
  const Output first = Gradients(y, {x_})[0];
  EXPECT_EQ(Run(Gradients(first, {x_})[0], feeds_), (std::vector<double>{12, 18}));
}

TEST_F(GradientsTest, GatherGivesSlicesThatAddUp) {
  const Output table = Placeholder(DType::kFloat, {4, 1});
  const FeedMap feeds = {{table, Tensor::Of<float>({4, 1}, {1, 2, 3, 4})}};
  const Gradient one = Gradients(Gather(table, {1, 1, 3}) * 2.0, {table})[0];
  ASSERT_TRUE(one.sparse());
  EXPECT_EQ(Run(one, feeds), (std::vector<double>{0, 4, 0, 2}));
  const Gradient two = Gradients({Gather(table, {0}), Gather(table, {0, 2})}, {table})[0];
  ASSERT_TRUE(two.sparse());
  EXPECT_EQ(Run(two, feeds), (std::vector<double>{2, 0, 1, 0}));
  const Gradient mixed = Gradients({Gather(table, {0}), table * 5.0}, {table})[0];
  EXPECT_FALSE(mixed.sparse());
  EXPECT_EQ(Run(mixed, feeds), (std::vector<double>{6, 5, 5, 5}));
}

TEST_F(GradientsTest, VariablesByHandle) {
  const Output handle = VarHandle(DType::kFloat, {2}, "v");
  const Output y = ReadVariable(handle) * x_ + ReadVariable(handle);
  EXPECT_EQ(Run(Gradients(y, {handle})[0], feeds_), (std::vector<double>{3, 4}));
}

TEST_F(GradientsTest, NamesAndDevices) {
  Output y;
  {
    const DeviceScope on("/cpu:0");
    const NameScope in("tower");
    y = Sin(x_);
  }
  const Output gradient = Gradients(y, {x_})[0];
  EXPECT_TRUE(gradient.node()->name().starts_with("gradients/tower/Sin_grad/"))
      << gradient.node()->name();
  EXPECT_EQ(gradient.node()->device(), y.node()->device());
  EXPECT_TRUE(Gradients(y, {x_})[0].dense().node()->name().starts_with("gradients_1/"));
}

TEST_F(GradientsTest, Errors) {
  const Output n = Placeholder(DType::kInt32, {2}, "n");
  EXPECT_NE(StatusOf([&] { Gradients(n, {x_}); }).ToString().find("n:0 is int32"),
            std::string::npos);
  EXPECT_NE(StatusOf([&] { Gradients(PreventGradient(x_, "why"), {x_}); }).ToString().find("why"),
            std::string::npos);
  GradientOptions options;
  options.grad_ys = {Const(Tensor(1.0))};
  EXPECT_NE(StatusOf([&] { Gradients(x_, {x_}, options); }).ToString().find("must be float"),
            std::string::npos);
  Graph other;
  Output elsewhere;
  {
    const GraphScope use(other);
    elsewhere = Placeholder(DType::kFloat, {2});
  }
  EXPECT_NE(StatusOf([&] { Gradients(x_, {elsewhere}); }).ToString().find("different graphs"),
            std::string::npos);
  EXPECT_TRUE(Gradients(x_ * 2.0, {n})[0].none());
}

TEST_F(GradientsTest, LongChainsCostLinearTime) {
  Output y = x_;
  for (int i = 0; i < 100'000; ++i) y = Neg(y);
  const auto start = std::chrono::steady_clock::now();
  const Gradient gradient = Gradients(y, {x_})[0];
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_FALSE(gradient.none());
  RecordProperty("seconds", std::to_string(seconds.count()));
  EXPECT_LT(seconds.count(), 20);  // a hundred times more when it is quadratic
}

}  // namespace
}  // namespace sextant

#include "sextant/ops/math/reduce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class ReduceTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  Graph graph_;
  GraphScope scope_{graph_};
  Output matrix_ = Const(Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6}));
};

TEST_F(ReduceTest, SumsAlongTheAxes) {
  EXPECT_TRUE(Run(Sum(matrix_, {0})).Identical(Tensor::Of<float>({5, 7, 9})));
  EXPECT_TRUE(Run(Sum(matrix_, {-1})).Identical(Tensor::Of<float>({6, 15})));
  EXPECT_TRUE(Run(Sum(matrix_, AllAxes(matrix_))).Identical(Tensor(21.0f)));
  EXPECT_TRUE(Run(Sum(matrix_, std::vector<int64_t>{}))
                  .Identical(Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(Run(Sum(matrix_, {1}, {.keep_dims = true})).shape(), (Shape{2, 1}));
}

TEST_F(ReduceTest, FoldsOuterAndInnerAxesTogether) {
  std::vector<int32_t> values(2 * 3 * 4);
  std::iota(values.begin(), values.end(), 0);
  const Output x = Const(Tensor::FromVector(values).Reshaped({2, 3, 4}));
  // Rows of four from 4 * j, and the same 12 further on.
  EXPECT_TRUE(Run(Sum(x, {0, 2})).Identical(Tensor::Of<int32_t>({60, 92, 124})));
  EXPECT_TRUE(Run(Max(x, {0, 2})).Identical(Tensor::Of<int32_t>({15, 19, 23})));
}

TEST_F(ReduceTest, LongFloatSumsKeepTheirPrecision) {
  // A running float sum would stop growing at 2^24.
  const Output ones = Const(Tensor::FromVector(std::vector<float>(20'000'000, 1.0f)));
  EXPECT_EQ(Run(Sum(ones, {0})).scalar<float>(), 2e7f);
  const Output columns =
      Const(Tensor::FromVector(std::vector<float>(20'000'000, 1.0f)).Reshaped({10'000'000, 2}));
  EXPECT_TRUE(Run(Sum(columns, {0})).Identical(Tensor::Of<float>({1e7f, 1e7f})));
}

TEST_F(ReduceTest, NothingGivesTheNeutralElement) {
  const float inf = std::numeric_limits<float>::infinity();
  const Output none = Const(Tensor(DType::kFloat, {0, 1}));
  EXPECT_TRUE(Run(Sum(none, {0})).Identical(Tensor::Of<float>({0})));
  EXPECT_TRUE(Run(Prod(none, {0})).Identical(Tensor::Of<float>({1})));
  EXPECT_TRUE(Run(Max(none, {0})).Identical(Tensor::Of<float>({-inf})));
  EXPECT_TRUE(Run(Min(none, {0})).Identical(Tensor::Of<float>({inf})));
  EXPECT_TRUE(std::isnan(*Run(Mean(none, {0})).data<float>()));
  const Output bytes = Const(Tensor(DType::kInt8, {0, 1}));
  EXPECT_TRUE(Run(Max(bytes, {0})).Identical(Tensor::Of<int8_t>({-128})));
  EXPECT_TRUE(Run(Mean(bytes, {0})).Identical(Tensor::Of<int8_t>({0})));
}

TEST_F(ReduceTest, NarrowIntegersDoNotOverflowInTheMean) {
  EXPECT_TRUE(Run(Mean(Const(Tensor::Of<int8_t>({100, 100, 100})), {0}))
                  .Identical(Tensor::Scalar<int8_t>(100)));
  EXPECT_TRUE(Run(Mean(Const(Tensor::Of<int32_t>({-1, -2})), {0})).Identical(Tensor(-1)));
}

TEST_F(ReduceTest, ExtremesKeepNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Output x = Const(Tensor::Of<float>({2, 2}, {1, nan, nan, 1}));
  for (const Output y : {Max(x, {1}), Min(x, {1})}) {
    const Tensor values = Run(y);
    for (const float value : values.flat<float>()) EXPECT_TRUE(std::isnan(value));
  }
}

TEST_F(ReduceTest, RefusesBadAxes) {
  const Output axes = OpBuilder("Placeholder").Attr("dtype", DType::kInt32).Build();
  const Output y = Sum(matrix_, axes);
  Session session(graph_);
  EXPECT_THROW(session.Run({{axes, Tensor::Of<int32_t>({2})}}, y), Error);
  EXPECT_THROW(session.Run({{axes, Tensor::Of<int32_t>({1, -1})}}, y), Error);
  EXPECT_EQ(session.Run({{axes, Tensor(1)}}, y).shape(), (Shape{2}));
}

}  // namespace
}  // namespace sextant

#include "sextant/ops/math/cumulative.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/math/arg_reduce.h"
#include "sextant/ops/math/bincount.h"
#include "sextant/ops/math/l2_loss.h"
#include "sextant/ops/math/range.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class CumulativeTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  Graph graph_;
  GraphScope scope_{graph_};
};

TEST_F(CumulativeTest, AllFourDirections) {
  const Output x = Const(Tensor::Of<int32_t>({1, 2, 3}));
  EXPECT_TRUE(Run(Cumsum(x, 0)).Identical(Tensor::Of<int32_t>({1, 3, 6})));
  EXPECT_TRUE(Run(Cumsum(x, 0, {.exclusive = true})).Identical(Tensor::Of<int32_t>({0, 1, 3})));
  EXPECT_TRUE(Run(Cumsum(x, -1, {.reverse = true})).Identical(Tensor::Of<int32_t>({6, 5, 3})));
  EXPECT_TRUE(Run(Cumprod(x, 0, {.exclusive = true, .reverse = true}))
                  .Identical(Tensor::Of<int32_t>({6, 3, 1})));
}

TEST_F(CumulativeTest, LogsumexpOfInfinities) {
  const float inf = std::numeric_limits<float>::infinity();
  const Output x = Const(Tensor::Of<float>({-inf, -inf, 1, inf, 2}));
  EXPECT_TRUE(
      Run(CumulativeLogsumexp(x, 0)).Identical(Tensor::Of<float>({-inf, -inf, 1, inf, inf})));
}

TEST_F(CumulativeTest, ArgReduceTakesTheFirstOfEquals) {
  const Output x = Const(Tensor::Of<float>({2, 3}, {1, 3, 3, 0, 0, 0}));
  EXPECT_TRUE(Run(ArgMax(x, 1)).Identical(Tensor::Of<int64_t>({1, 0})));
  EXPECT_TRUE(
      Run(ArgMin(x, 0, {.output_type = DType::kInt32})).Identical(Tensor::Of<int32_t>({1, 1, 1})));
  EXPECT_THROW(Run(ArgMax(Const(Tensor(DType::kFloat, {2, 0})), 1)), Error);
}

TEST_F(CumulativeTest, RangesAndCounts) {
  EXPECT_TRUE(
      Run(Range(Const(10), Const(0), Const(-4))).Identical(Tensor::Of<int32_t>({10, 6, 2})));
  EXPECT_TRUE(
      Run(LinSpace(Const(0.0), Const(1.0), Const(3))).Identical(Tensor::Of<double>({0, 0.5, 1})));
  EXPECT_THROW(Run(Range(Const(0), Const(1), Const(0))), Error);
  const Output none = Const(Tensor(DType::kInt32, {0}));
  EXPECT_TRUE(Run(Bincount(Const(Tensor::Of<int32_t>({1, 9, 1})), Const(3), none))
                  .Identical(Tensor::Of<int32_t>({0, 2, 0})));
  EXPECT_THROW(Run(Bincount(Const(Tensor::Of<int32_t>({-1})), Const(3), none)), Error);
  EXPECT_TRUE(Run(HistogramFixedWidth(Const(Tensor::Of<int32_t>({-1, 0, 1, 2, 3, 4, 5, 10})),
                                      Const(Tensor::Of<int32_t>({0, 5})), Const(3)))
                  .Identical(Tensor::Of<int32_t>({3, 2, 3})));
}

TEST_F(CumulativeTest, L2LossIsHalfTheSumOfSquares) {
  EXPECT_TRUE(Run(L2Loss(Const(Tensor::Of<float>({1, 2, 3})))).Identical(Tensor(7.0f)));
}

}  // namespace
}  // namespace sextant

#include "sextant/ops/nn/dilation2d.h"

#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"

namespace sextant {
namespace {

class Dilation2DTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  Graph graph_;
  GraphScope scope_{graph_};
  const Output x_ = Const(Tensor::Of<float>({1, 3, 3, 1}, {1, 5, 2, 4, 3, 9, 7, 8, 6}));
  const Output f_ = Const(Tensor::Of<float>({2, 2, 1}, {0, 1, 2, -1}));
  const Dilation2DOptions same_{.padding = "SAME"};
};

TEST_F(Dilation2DTest, TakesTheLargestSumInside) {
  EXPECT_TRUE(Run(Dilation2D(x_, f_, same_))
                  .Identical(Tensor::Of<float>({1, 3, 3, 1}, {6, 8, 11, 9, 10, 9, 9, 8, 6})));
}

TEST_F(Dilation2DTest, GradientsGoToTheLargest) {
  const Output grad = Const(Tensor::Of<float>({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(Run(Dilation2DBackpropInput(x_, f_, grad, same_))
                  .Identical(Tensor::Of<float>({1, 3, 3, 1}, {0, 1, 0, 0, 0, 16, 4, 15, 9})));
  EXPECT_TRUE(Run(Dilation2DBackpropFilter(x_, f_, grad, same_))
                  .Identical(Tensor::Of<float>({2, 2, 1}, {23, 13, 7, 2})));
}

TEST_F(Dilation2DTest, RejectsOtherShapes) {
  EXPECT_THROW(Run(Dilation2D(x_, Const(Tensor::Of<float>({1, 1, 2}, {1, 2})))), Error);
  EXPECT_THROW(Run(Dilation2DBackpropInput(x_, f_, x_)), Error);
}

}  // namespace
}  // namespace sextant

#include "sextant/ops/nn/conv3d.h"

#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/counting.h"

namespace sextant {
namespace {

class Conv3DTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  Graph graph_;
  GraphScope scope_{graph_};
  const Output x_ = Const(Counting({1, 2, 2, 2, 1})), f_ = Const(Counting({2, 2, 2, 1, 1}));
  const Conv3DOptions same_{.padding = "SAME"};
};

TEST_F(Conv3DTest, PadsAllAxes) {
  EXPECT_TRUE(
      Run(Conv3D(x_, f_, same_))
          .Identical(Tensor::Of<float>({1, 2, 2, 2, 1}, {204, 100, 94, 44, 70, 30, 23, 8})));
  EXPECT_TRUE(Run(Conv3D(x_, f_)).Identical(Tensor::Of<float>({1, 1, 1, 1, 1}, {204})));
}

TEST_F(Conv3DTest, ChannelsFirst) {
  const Output x = Const(Counting({1, 2, 2, 1, 1})), f = Const(Counting({2, 1, 1, 2, 1}));
  // Channel 0 is {1, 2}, channel 1 is {3, 4}; the filter {1, 2}, {3, 4} by depth.
  EXPECT_TRUE(Run(Conv3D(x, f, {.data_format = "NCDHW"}))
                  .Identical(Tensor::Of<float>({1, 1, 1, 1, 1}, {1 * 1 + 3 * 2 + 2 * 3 + 4 * 4})));
}

TEST_F(Conv3DTest, Gradients) {
  EXPECT_TRUE(
      Run(Conv3DBackpropInput({1, 2, 2, 2, 1}, f_, Const(Tensor::Of<float>({1, 1, 1, 1, 1}, {2}))))
          .Identical(Tensor::Of<float>({1, 2, 2, 2, 1}, {2, 4, 6, 8, 10, 12, 14, 16})));
  const Output ones = Const(Tensor::Of<float>({1, 2, 2, 2, 1}, {1, 1, 1, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(Run(Conv3DBackpropFilter(x_, {2, 2, 2, 1, 1}, ones, same_))
                  .Identical(Tensor::Of<float>({2, 2, 2, 1, 1}, {36, 20, 22, 12, 26, 14, 15, 8})));
}

TEST_F(Conv3DTest, RejectsWrongRank) {
  EXPECT_THROW(Run(Conv3D(Const(Counting({2, 2, 2, 1})), f_)), Error);
  EXPECT_THROW(Run(Conv3D(x_, f_, {.strides = {1, 1, 1, 1, 0}})), Error);
}

}  // namespace
}  // namespace sextant

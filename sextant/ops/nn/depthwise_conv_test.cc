#include "sextant/ops/nn/depthwise_conv.h"

#include <gtest/gtest.h>

#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/counting.h"

namespace sextant {
namespace {

class DepthwiseConvTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  Graph graph_;
  GraphScope scope_{graph_};
  const Output x_ = Const(Counting({1, 2, 2, 2})), f_ = Const(Counting({1, 2, 2, 2}));
  const Conv2DOptions same_{.padding = "SAME"};
};

TEST_F(DepthwiseConvTest, ChannelsHaveFiltersOfTheirOwn) {
  EXPECT_TRUE(Run(DepthwiseConv2dNative(x_, f_, same_))
                  .Identical(Tensor::Of<float>({1, 2, 2, 4}, {16, 20, 34, 40, 3, 6, 12, 16, 40, 52,
                                                              74, 88, 7, 14, 24, 32})));
  EXPECT_TRUE(Run(DepthwiseConv2dNative(x_, f_))
                  .Identical(Tensor::Of<float>({1, 2, 1, 4}, {16, 20, 34, 40, 40, 52, 74, 88})));
}

TEST_F(DepthwiseConvTest, ChannelsFirst) {
  const Output x = Const(Tensor::Of<float>({1, 2, 2, 2}, {1, 3, 5, 7, 2, 4, 6, 8}));
  EXPECT_TRUE(Run(DepthwiseConv2dNative(x, f_, {.data_format = "NCHW"}))
                  .Identical(Tensor::Of<float>({1, 4, 2, 1}, {16, 40, 20, 52, 34, 74, 40, 88})));
}

TEST_F(DepthwiseConvTest, Gradients) {
  Tensor ones(DType::kFloat, {1, 2, 2, 4});
  std::fill_n(ones.data<float>(), 16, 1.0f);
  EXPECT_TRUE(Run(DepthwiseConv2dNativeBackpropInput({1, 2, 2, 2}, f_, Const(ones), same_))
                  .Identical(Tensor::Of<float>({1, 2, 2, 2}, {3, 7, 14, 22, 3, 7, 14, 22})));
  EXPECT_TRUE(Run(DepthwiseConv2dNativeBackpropFilter(x_, {1, 2, 2, 2}, Const(ones), same_))
                  .Identical(Tensor::Of<float>({1, 2, 2, 2}, {16, 16, 20, 20, 10, 10, 12, 12})));
}

TEST_F(DepthwiseConvTest, RejectsOtherDepths) {
  const auto wrong = [&] { Run(DepthwiseConv2dNative(x_, Const(Counting({1, 2, 3, 2})), same_)); };
  EXPECT_THROW(wrong(), Error);
  EXPECT_THROW(Run(DepthwiseConv2dNativeBackpropInput({1, 2, 2, 2}, f_, f_, same_)), Error);
}

}  // namespace
}  // namespace sextant

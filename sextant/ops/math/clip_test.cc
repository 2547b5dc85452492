#include "sextant/ops/math/clip.h"

#include <gtest/gtest.h>

#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class ClipTest : public testing::Test {
 protected:
  Tensor Run(Output y) { return Session(graph_).Run(y); }
  Output Raw(Output low, Output high) {
    return OpBuilder("ClipByValue").Input(x_).Input(low).Input(high).Build();
  }

  Graph graph_;
  GraphScope scope_{graph_};
  const Output x_ = Const(Tensor::Of<float>(Shape({2, 3}), {1, 2, 3, 4, 5, 6}));
  const Output two_ = Const(Tensor(2.0f)), five_ = Const(Tensor(5.0f));
  const Tensor clipped_ = Tensor::Of<float>(Shape({2, 3}), {2, 2, 3, 4, 5, 5});
};

// As TensorFlow 2.15 does, op and function.
TEST_F(ClipTest, BoundsAreScalarsOrOfTheSameShape) {
  const Output twos = Const(Tensor::Of<float>(Shape({2, 3}), {2, 2, 2, 2, 2, 2}));
  EXPECT_TRUE(Run(Raw(two_, five_)).Identical(clipped_));
  EXPECT_TRUE(Run(Raw(twos, five_)).Identical(clipped_));
  // The lower bound wins where they cross.
  EXPECT_TRUE(
      Run(Raw(five_, two_)).Identical(Tensor::Of<float>(Shape({2, 3}), {5, 5, 5, 5, 5, 5})));
  for (const Shape& shape : {Shape({3}), Shape({1}), Shape({1, 1})}) {
    const Output low = Const(Tensor::Zeros(DType::kFloat, shape));
    const Status status = StatusOf([&] { Run(Raw(low, five_)); });
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find("must be either of the same shape as input"), std::string::npos)
        << status.message();
  }
}

TEST_F(ClipTest, TheFunctionBroadcastsWithOpsThatDo) {
  EXPECT_EQ(ClipByValue(x_, two_, five_).node()->type(), "ClipByValue");
  const Output row = Const(Tensor::Of<float>({2, 2, 2}));
  const Output y = ClipByValue(x_, row, five_);
  EXPECT_EQ(y.node()->type(), "Maximum");
  EXPECT_TRUE(Run(y).Identical(clipped_));
  const Output larger = Const(Tensor::Zeros(DType::kFloat, Shape({4, 2, 3})));
  EXPECT_EQ(StatusOf([&] { ClipByValue(x_, larger, five_); }).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant

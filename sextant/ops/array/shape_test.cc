#include "sextant/ops/array/shape.h"

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/identity.h"

namespace sextant {
namespace {

using ShapeOpsTest = ArrayTest;

TEST_F(ShapeOpsTest, ReshapeInfersOneSize) {
  const Output x = Const(Tensor::Of<int32_t>({0, 1, 2, 3, 4, 5}));
  const Output y = Reshape(x, {2, -1});
  EXPECT_EQ(y.shape().ToString(), "[2,3]");
  ExpectTensor<int32_t>(Run(y), {2, 3}, {0, 1, 2, 3, 4, 5});
  ExpectTensor<int32_t>(Run(Reshape(x, Hidden(Tensor::Of<int64_t>({-1, 1, 2})))), {3, 1, 2},
                        {0, 1, 2, 3, 4, 5});
}

TEST_F(ShapeOpsTest, ReshapeToZeroSizesIsNotMistakenForATensor) {
  const Output x = Placeholder(DType::kFloat, {0, 4});
  EXPECT_EQ(Reshape(x, {0, 4}).shape().ToString(), "[0,4]");
  EXPECT_EQ(Reshape(Const(Tensor(1.0f)), {}).shape().ToString(), "[]");
}

// As TensorFlow 2.15 does.
TEST_F(ShapeOpsTest, ReshapeInfersSizesOfEmptyTensors) {
  const Output x = Const(Tensor(DType::kFloat, Shape{2, 0, 3}));
  EXPECT_EQ(Run(Reshape(x, {0, -1})).shape().ToString(), "[0,6]");
  EXPECT_EQ(Run(Reshape(x, {-1, 0, 2})).shape().ToString(), "[3,0,2]");
  EXPECT_EQ(Run(Reshape(x, {-1, 5})).shape().ToString(), "[0,5]");
}

TEST_F(ShapeOpsTest, ReshapeErrors) {
  const Output x = Placeholder(DType::kFloat);
  const FeedMap feeds = {{x, Tensor::Zeros(DType::kFloat, {3, 5})}};
  EXPECT_NE(ErrorOf(Reshape(x, {4, 4}), feeds).find("INVALID_ARGUMENT"), std::string::npos);
  const Output two_open = Hidden(Tensor::Of<int32_t>({-1, -1}));
  EXPECT_NE(ErrorOf(Reshape(x, two_open), feeds).find("Only one input size may be -1"),
            std::string::npos);
  EXPECT_THROW(Reshape(Const(Tensor::Of<float>({1, 2, 3})), {2, 2}), Error);
}

TEST_F(ShapeOpsTest, SqueezeAndExpand) {
  const Output x = Const(Tensor::Zeros(DType::kFloat, {1, 3, 1, 2}));
  EXPECT_EQ(Squeeze(x).shape().ToString(), "[3,2]");
  EXPECT_EQ(Squeeze(x, {-2}).shape().ToString(), "[1,3,2]");
  EXPECT_EQ(Run(Squeeze(x, {0})).shape().ToString(), "[3,1,2]");
  EXPECT_EQ(Run(ExpandDims(x, -1)).shape().ToString(), "[1,3,1,2,1]");
  EXPECT_THROW(Squeeze(x, {1}), Error);
  EXPECT_THROW(ExpandDims(x, 6), Error);
}

TEST_F(ShapeOpsTest, ShapeSizeRank) {
  const Output x = Placeholder(DType::kString);
  const FeedMap feeds = {{x, Tensor(DType::kString, Shape{0, 3})}};
  ExpectTensor<int32_t>(Run(ShapeOf(x), feeds), {2}, {0, 3});
  ExpectTensor<int64_t>(Run(Size(x, DType::kInt64), feeds), {}, {0});
  ExpectTensor<int32_t>(Run(Rank(x), feeds), {}, {2});
}

TEST_F(ShapeOpsTest, EnsureShapeChecksWhatRuns) {
  const Output x = Placeholder(DType::kFloat);
  const Output y = EnsureShape(x, {-1, 3});
  EXPECT_EQ(y.shape().ToString(), "[?,3]");
  EXPECT_EQ(ErrorOf(y, {{x, Tensor::Zeros(DType::kFloat, {2, 3})}}), "OK");
  EXPECT_NE(ErrorOf(y, {{x, Tensor::Zeros(DType::kFloat, {2, 4})}}).find("not compatible"),
            std::string::npos);
}

TEST_F(ShapeOpsTest, PreventGradientSaysWhy) {
  const Output x = Placeholder(DType::kFloat, {2});
  const Output y = PreventGradient(x, "not this way");
  try {
    Gradients(y, {x});
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("not this way"), std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace sextant

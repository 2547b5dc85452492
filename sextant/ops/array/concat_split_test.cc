#include "sextant/ops/array/concat_split.h"

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/pack.h"

namespace sextant {
namespace {

using ConcatSplitTest = ArrayTest;

TEST_F(ConcatSplitTest, JoinsAlongAnyAxis) {
  const Output a = Const(Tensor::Of<int32_t>(Shape{2, 1}, {1, 2}));
  const Output b = Const(Tensor::Of<int32_t>(Shape{2, 2}, {3, 4, 5, 6}));
  const Output c = Const(Tensor(DType::kInt32, Shape{2, 0}));
  ExpectTensor<int32_t>(Run(Concat({a, b, c}, -1)), {2, 3}, {1, 3, 4, 2, 5, 6});
  ExpectTensor<int32_t>(Run(Concat({b, b}, 0)), {4, 2}, {3, 4, 5, 6, 3, 4, 5, 6});
  EXPECT_THROW(Concat({a, b}, 0), Error);
}

TEST_F(ConcatSplitTest, RowsOfAllSizes) {
  for (int64_t width = 1; width <= 70; ++width) {
    const auto part = [&](uint8_t first) {
      Tensor value(DType::kUInt8, {2, width});
      for (int64_t i = 0; i < 2 * width; ++i) {
        value.data<uint8_t>()[i] = static_cast<uint8_t>(first + i);
      }
      return Const(value);
    };
    std::vector<uint8_t> expected;
    for (const int64_t row : {0, 1}) {
      for (const int64_t first : {0, 100}) {
        for (int64_t i = 0; i < width; ++i) {
          expected.push_back(static_cast<uint8_t>(first + row * width + i));
        }
      }
    }
    ExpectTensor<uint8_t>(Run(Concat({part(0), part(100)}, 1)), {2, 2 * width}, expected);
  }
}

TEST_F(ConcatSplitTest, ShapeIsKnownInPart) {
  const Output x = Placeholder(DType::kFloat, {-1, 3}), y = Placeholder(DType::kFloat, {2, -1});
  EXPECT_EQ(Concat({x, y}, 0).shape().ToString(), "[?,3]");
  EXPECT_EQ(Concat({x, Placeholder(DType::kFloat)}, 1).shape().ToString(), "[?,?]");
}

TEST_F(ConcatSplitTest, SplitsEvenlyOrBySizes) {
  const Output x = Const(Tensor::Of<int32_t>(Shape{2, 3}, {1, 2, 3, 4, 5, 6}));
  ExpectTensor<int32_t>(Run(Split(x, 3, 1)[1]), {2, 1}, {2, 5});
  const auto parts = Split(x, {1, -1}, 1);
  EXPECT_EQ(parts[1].shape().ToString(), "[2,2]");
  ExpectTensor<int32_t>(Run(parts[1]), {2, 2}, {2, 3, 5, 6});
  EXPECT_THROW(Split(x, 2, 1), Error);
}

TEST_F(ConcatSplitTest, RunTimeErrors) {
  const Output x = Placeholder(DType::kFloat), y = Placeholder(DType::kFloat);
  const FeedMap feeds = {{x, Tensor::Zeros(DType::kFloat, {2, 3})},
                         {y, Tensor::Zeros(DType::kFloat, {2, 4})}};
  EXPECT_NE(ErrorOf(Concat({x, y}, 0), feeds).find("INVALID_ARGUMENT"), std::string::npos);
  EXPECT_NE(ErrorOf(Pack({x, y}), feeds).find("Shapes of all inputs must match"),
            std::string::npos);
  const Output five = Const(Tensor::Zeros(DType::kFloat, {5}));
  const Output axis = Hidden(Tensor(int32_t{0}));
  EXPECT_NE(ErrorOf(Split(five, 2, axis)[0]).find("evenly divide"), std::string::npos);
}

TEST_F(ConcatSplitTest, OffsetsOfParts) {
  const auto offsets =
      ConcatOffset(Const(Tensor(int32_t{1})), {ConstInts({2, 3, 4}), ConstInts({2, 5, 4})});
  ExpectTensor<int32_t>(Run(offsets[1]), {3}, {0, 3, 0});
}

TEST_F(ConcatSplitTest, PackAndUnpackAreInverse) {
  const Output x = Const(Tensor::Of<int32_t>(Shape{2, 3}, {1, 2, 3, 4, 5, 6}));
  const auto columns = Unpack(x, 1);
  ASSERT_EQ(columns.size(), 3u);
  ExpectTensor<int32_t>(Run(columns[2]), {2}, {3, 6});
  ExpectTensor<int32_t>(Run(Pack(columns, -1)), {2, 3}, {1, 2, 3, 4, 5, 6});
  ExpectTensor<int32_t>(Run(Stack(columns)), {3, 2}, {1, 4, 2, 5, 3, 6});
}

TEST_F(ConcatSplitTest, GradientsOfUnknownShapes) {
  const Output x = Placeholder(DType::kFloat), y = Placeholder(DType::kFloat);
  const Output z = Concat({x, y}, Hidden(Tensor(int32_t{-1})));
  const Output weights = Const(Tensor::Of<float>(Shape{1, 3}, {5, 6, 7}));
  const auto grads = Gradients(z, {x, y}, {.grad_ys = {weights}});
  const FeedMap feeds = {{x, Tensor::Zeros(DType::kFloat, {1, 1})},
                         {y, Tensor::Zeros(DType::kFloat, {1, 2})}};
  ExpectTensor<float>(Run(grads[0], feeds), {1, 1}, {5});
  ExpectTensor<float>(Run(grads[1], feeds), {1, 2}, {6, 7});
}

}  // namespace
}  // namespace sextant

#include "sextant/ops/array/strided_slice.h"

#include <numeric>

#include "sextant/ops/array/array_test.h"
#include "sextant/ops/array/slice.h"

namespace sextant {
namespace {

class StridedSliceTest : public ArrayTest {
 protected:
  static Tensor Iota(const Shape& shape) {
    Tensor t(DType::kInt32, shape);
    const auto flat = t.flat<int32_t>();
    std::iota(flat.begin(), flat.end(), 0);
    return t;
  }
  const Output matrix_ = Const(Iota({4, 5}));
};

TEST_F(StridedSliceTest, RangesIndicesAndNewAxes) {
  ExpectTensor<int32_t>(Run(StridedSlice(matrix_, {SliceRange(1, 3), SliceRange(0, 4, 2)})), {2, 2},
                        {5, 7, 10, 12});
  ExpectTensor<int32_t>(Run(StridedSlice(matrix_, {-1})), {5}, {15, 16, 17, 18, 19});
  ExpectTensor<int32_t>(Run(StridedSlice(matrix_, {Ellipsis(), 1})), {4}, {1, 6, 11, 16});
  EXPECT_EQ(StridedSlice(matrix_, {NewAxis(), Ellipsis(), NewAxis()}).shape().ToString(),
            "[1,4,5,1]");
  EXPECT_EQ(StridedSlice(matrix_, {SliceAll(), NewAxis()}).shape().ToString(), "[4,1,5]");
}

TEST_F(StridedSliceTest, NegativeStrides) {
  // x[-1:-4:-2, 3:1:-1]
  ExpectTensor<int32_t>(Run(StridedSlice(matrix_, {SliceRange(-1, -4, -2), SliceRange(3, 1, -1)})),
                        {2, 2}, {18, 17, 8, 7});
  const Output all_back = StridedSlice(matrix_, {SliceRange(std::nullopt, std::nullopt, -1), 0});
  ExpectTensor<int32_t>(Run(all_back), {4}, {15, 10, 5, 0});
}

TEST_F(StridedSliceTest, RangesAreClamped) {
  EXPECT_EQ(Run(StridedSlice(matrix_, {SliceRange(10, std::nullopt)})).shape().ToString(), "[0,5]");
  EXPECT_EQ(StridedSlice(matrix_, {SliceRange(3, 1)}).shape().ToString(), "[0,5]");
  EXPECT_EQ(StridedSlice(matrix_, {SliceAll(), SliceRange(-20, 20)}).shape().ToString(), "[4,5]");
}

TEST_F(StridedSliceTest, Errors) {
  EXPECT_THROW(StridedSlice(matrix_, {4}), Error);
  EXPECT_THROW(StridedSlice(matrix_, {SliceRange(0, 1, 0)}), Error);
  EXPECT_THROW(StridedSlice(matrix_, {0, 0, 0}), Error);
  EXPECT_THROW(StridedSlice(matrix_, {Ellipsis(), Ellipsis()}), Error);
  const Output five = Hidden(Tensor::Of<int32_t>({5})), six = Hidden(Tensor::Of<int32_t>({6}));
  EXPECT_NE(
      ErrorOf(StridedSlice(matrix_, five, six, {1}, {.shrink_axis_mask = 1})).find("out of bounds"),
      std::string::npos);
}

TEST_F(StridedSliceTest, ShapesKnownInPart) {
  const Output x = Placeholder(DType::kFloat, {-1, 7});
  EXPECT_EQ(StridedSlice(x, {SliceRange(1, 3), SliceRange(2, -1)}).shape().ToString(), "[?,4]");
  EXPECT_EQ(StridedSlice(x, {0}).shape().ToString(), "[7]");
  const Output at = Hidden(Tensor::Of<int32_t>({1}));
  EXPECT_EQ(StridedSlice(x, at, at, {1}, {.shrink_axis_mask = 1}).shape().ToString(), "[7]");
}

TEST_F(StridedSliceTest, GradientPutsBackWithZeros) {
  const Output x = Placeholder(DType::kFloat, {2, 3});
  const Output y = StridedSlice(x, {SliceRange(std::nullopt, std::nullopt, -1), 1});
  const auto grads = Gradients(y, {x}, {.grad_ys = {Const(Tensor::Of<float>({5, 6}))}});
  ExpectTensor<float>(Run(grads[0], {{x, Tensor::Zeros(DType::kFloat, {2, 3})}}), {2, 3},
                      {0, 6, 0, 0, 5, 0});
}

TEST_F(StridedSliceTest, SliceTakesABox) {
  const Output y = Slice(matrix_, {1, 2}, {2, -1});
  EXPECT_EQ(y.shape().ToString(), "[2,3]");
  ExpectTensor<int32_t>(Run(y), {2, 3}, {7, 8, 9, 12, 13, 14});
  EXPECT_THROW(Slice(matrix_, {1, 2}, {4, 1}), Error);
  const Output row = Const(Iota({3}));
  const Output begin = Hidden(Tensor::Of<int32_t>({1})), size = Hidden(Tensor::Of<int32_t>({5}));
  EXPECT_NE(ErrorOf(Slice(row, begin, size)).find("Expected size[0] in [0, 2], but got 5"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant

#include "sextant/ops/image/resize.h"

#include "sextant/ops/image/image_ops_test.h"

namespace sextant {
namespace {

using ResizeTest = ImageOpsTest;

TEST_F(ResizeTest, InterpolatesLinearly) {
  const Output x = Const(Tensor::Of<float>(Shape{1, 1, 2, 1}, {0, 4}));
  ExpectNear(Run(ResizeBilinear(x, {1, 4})), {0, 2, 4, 4});
  ExpectNear(Run(ResizeBilinear(x, {1, 3}, {.align_corners = true})), {0, 2, 4});
  ExpectNear(Run(ResizeBilinear(x, {1, 4}, {.half_pixel_centers = true})), {0, 1, 3, 4});
  EXPECT_EQ(ResizeBilinear(x, {1, 4}).shape().ToString(), "[1,1,4,1]");
}

TEST_F(ResizeTest, TakesTheNearestPixel) {
  const Output x = Const(Tensor::Of<uint8_t>(Shape{1, 1, 3, 1}, {1, 2, 3}));
  EXPECT_EQ(Elements<uint8_t>(Run(ResizeNearestNeighbor(x, {1, 2}))), (std::vector<uint8_t>{1, 2}));
  EXPECT_EQ(Elements<uint8_t>(Run(ResizeNearestNeighbor(x, {1, 2}, {.half_pixel_centers = true}))),
            (std::vector<uint8_t>{1, 3}));
  EXPECT_EQ(Elements<uint8_t>(Run(ResizeNearestNeighbor(x, {1, 5}, {.align_corners = true}))),
            (std::vector<uint8_t>{1, 2, 2, 3, 3}));
}

TEST_F(ResizeTest, AveragesAreas) {
  const Output x = Const(Tensor::Of<int32_t>(Shape{1, 2, 3, 1}, {1, 2, 3, 5, 6, 7}));
  ExpectNear(Run(ResizeArea(x, {1, 1})), {4});
  ExpectNear(Run(ResizeArea(x, {2, 2})), {4.0F / 3, 8.0F / 3, 16.0F / 3, 20.0F / 3});
}

TEST_F(ResizeTest, SendsGradientsBack) {
  const Output x = Placeholder(DType::kFloat, {1, 1, 2, 1});
  const Output weights = Const(Tensor::Of<float>(Shape{1, 1, 4, 1}, {1, 2, 4, 8}));
  const Tensor value = Tensor::Zeros(DType::kFloat, Shape{1, 1, 2, 1});
  const GradientOptions options{.grad_ys = {weights}};
  ExpectNear(Run(Gradients(ResizeBilinear(x, {1, 4}), {x}, options)[0], {{x, value}}), {2, 13});
  ExpectNear(Run(Gradients(ResizeNearestNeighbor(x, {1, 4}), {x}, options)[0], {{x, value}}),
             {3, 12});
}

TEST_F(ResizeTest, SamplesWithAKernel) {
  const Output x = Const(Tensor::Of<float>(Shape{1, 1, 2, 1}, {2, 6}));
  const Output scale = Const(Tensor::Of<float>({1, 2})), shift = Const(Tensor::Of<float>({0, 0}));
  ExpectNear(Run(ScaleAndTranslate(x, {1, 4}, scale, shift, {.kernel_type = "triangle"})),
             {2, 3, 5, 6});
  // Moved to the right by its own width: nothing of it is left.
  const Output away = Const(Tensor::Of<float>({0, 4.5F}));
  ExpectNear(Run(ScaleAndTranslate(x, {1, 4}, scale, away)), {0, 0, 0, 0});
}

TEST_F(ResizeTest, RefusesBadSizes) {
  const Output x = Const(Tensor::Zeros(DType::kFloat, Shape{1, 2, 2, 1}));
  const Output zero = PlaceholderWithDefault(ConstInts({0, 3}), {});
  EXPECT_NE(ErrorOf(ResizeBilinear(x, zero)).find("must be positive"), std::string::npos);
  EXPECT_NE(ErrorOf(ResizeBicubic(x, {2, 2}, {.align_corners = true, .half_pixel_centers = true}))
                .find("align_corners must be False"),
            std::string::npos);
  const Output scale = Const(Tensor::Of<float>({0, 1}));
  EXPECT_NE(ErrorOf(ScaleAndTranslate(x, {2, 2}, scale, scale)).find("greater than zero"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant

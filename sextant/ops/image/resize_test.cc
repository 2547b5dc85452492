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

// What TensorFlow 2.15 gives: floats are multiplied, doubles added. Its weights of a pixel at the
// edge, and those of cubic kernels, are rounded otherwise.
TEST_F(ResizeTest, GradientsOfDoubleImagesAreSumsOfDoubles) {
  const Output grads =
      Const(Tensor::Of<float>(Shape{1, 3, 5, 1}, {0.1F, 0.2F, 0.3F, 0.7F, 1.1F, -0.3F, 0.9F, 0.05F,
                                                  0.6F, 0.33F, 0.77F, -0.13F, 0.21F, 0.4F, 0.15F}));
  const Output image = Const(Tensor::Zeros(DType::kDouble, Shape{1, 2, 3, 1}));
  const auto expect = [&](Output y, double tolerance, const std::vector<double>& expected) {
    const Tensor value = Run(y);
    ASSERT_EQ(value.num_elements(), static_cast<int64_t>(expected.size()));
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(value.data<double>()[i], expected[i], tolerance) << y.name() << " " << i;
    }
  };
  const auto resize = [&](const char* op) {
    return OpBuilder(op).Input(grads).Input(image).Attr("half_pixel_centers", true).Build();
  };
  expect(resize("ResizeBilinearGrad"), 4e-8,
         {0.33999996585771441, 0.98499989323318005, 1.8650002218782902, 0.81199994776397943,
          0.64299991261214018, 0.73500012746080756});
  expect(resize("ResizeBicubicGrad"), 3e-7,
         {0.28885046580574281, 0.90766839642263275, 2.0593697725334272, 0.87731621132545723,
          0.5473622068866929, 0.69943258910016004});
  expect(OpBuilder("CropAndResizeGradImage")
             .Input(grads)
             .Input(Const(Tensor::Of<float>(Shape{1, 4}, {0.1F, 0.2F, 0.9F, 0.85F})))
             .Input(Const(Tensor::Of<int32_t>({0})))
             .Input(ConstInts({1, 2, 3, 1}))
             .Attr("T", DType::kDouble)
             .Build(),
         1e-14,
         {0.17987498687580228, 1.7115749977529049, 1.1985501227900386, 0.42887499509379268,
          1.288174910005182, 0.57295002904720604});
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

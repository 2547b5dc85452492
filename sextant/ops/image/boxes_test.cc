#include "sextant/ops/image/boxes.h"

#include "sextant/ops/image/crop.h"
#include "sextant/ops/image/image.h"
#include "sextant/ops/image/image_ops_test.h"
#include "sextant/ops/image/non_max_suppression.h"

namespace sextant {
namespace {

using BoxesTest = ImageOpsTest;

Output Boxes() {
  return Const(Tensor::Of<float>(Shape{3, 4}, {0, 0, 1, 1, 0, 0.1F, 1, 1.1F, 0, 5, 1, 6}));
}

TEST_F(BoxesTest, LeavesOutOverlappingBoxes) {
  const Output scores = Const(Tensor::Of<float>({0.5F, 0.9F, 0.7F})), ten = Const(Tensor(10));
  EXPECT_EQ(Elements<int32_t>(Run(NonMaxSuppression(Boxes(), scores, ten))),
            (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(Elements<int32_t>(Run(NonMaxSuppression(Boxes(), scores, ten, {.iou_threshold = 1}))),
            (std::vector<int32_t>{1, 2, 0}));
  const auto padded = NonMaxSuppressionPadded(Boxes(), scores, Const(Tensor(4)));
  EXPECT_EQ(Elements<int32_t>(Run(padded.selected_indices)), (std::vector<int32_t>{1, 2, 0, 0}));
  EXPECT_EQ(Run(padded.valid_outputs).scalar<int32_t>(), 2);
  // The first two share 9/11: 0.5 * exp(-(9/11)^2 / (2 * 0.5)).
  const auto soft = SoftNonMaxSuppression(Boxes(), scores, ten, {.sigma = 0.5F});
  ExpectNear(Run(soft.selected_scores), {0.9F, 0.7F, 0.2559996F});
}

TEST_F(BoxesTest, DrawsOutlines) {
  const Output image = Const(Tensor::Zeros(DType::kFloat, Shape{1, 3, 4, 1}));
  const Output box = Const(Tensor::Of<float>(Shape{1, 1, 4}, {0, 0, 1, 0.7F}));
  ExpectNear(Run(DrawBoundingBoxes(image, box)), {1, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 0});
}

// Drawn by TensorFlow 2.15 in three runs of one session.
TEST_F(BoxesTest, SamplesAsTensorFlow) {
  const Output boxes = Const(Tensor::Of<float>(Shape{1, 1, 4}, {0.1F, 0.2F, 0.6F, 0.7F}));
  const auto outputs = OpBuilder("SampleDistortedBoundingBox")
                           .Input(ConstInts({60, 80, 3}))
                           .Input(boxes)
                           .Attr("seed", int64_t{1})
                           .Attr("seed2", int64_t{2})
                           .BuildAll();
  Session session(graph_);
  const std::vector<int32_t> begins[] = {{6, 29, 0}, {3, 5, 0}, {17, 35, 0}};
  const std::vector<int32_t> sizes[] = {{51, 50, -1}, {38, 37, -1}, {17, 18, -1}};
  for (int i = 0; i < 3; ++i) {
    const auto values = session.Run({}, std::vector<Output>{outputs[0], outputs[1]});
    EXPECT_EQ(Elements<int32_t>(values[0]), begins[i]);
    EXPECT_EQ(Elements<int32_t>(values[1]), sizes[i]);
  }
}

TEST_F(BoxesTest, CropsAndResizes) {
  const Output image = Const(Tensor::Of<float>(Shape{1, 2, 2, 1}, {1, 2, 3, 4}));
  const Output boxes = Const(Tensor::Of<float>(Shape{2, 4}, {0, 0, 1, 1, 1, 1, 0, 0}));
  const Output indices = ConstInts({0, 0});
  ExpectNear(Run(CropAndResize(image, boxes, indices, {1, 1})), {2.5F, 2.5F});
  ExpectNear(Run(CropAndResize(image, boxes, indices, {2, 2})), {1, 2, 3, 4, 4, 3, 2, 1});
  EXPECT_NE(ErrorOf(CropAndResize(image, boxes, ConstInts({0, 1}), {2, 2})).find("OUT_OF_RANGE"),
            std::string::npos);
}

TEST_F(BoxesTest, ComposesPipelines) {
  const Output x = Placeholder(DType::kFloat, {PartialShape::kUnknown, PartialShape::kUnknown, 1});
  const Tensor value = Tensor::Of<float>(Shape{1, 3, 1}, {1, 2, 3});
  ExpectNear(Run(FlipLeftRight(x), {{x, value}}), {3, 2, 1});
  const Output fitted = ResizeWithCropOrPad(x, 2, 2);
  EXPECT_EQ(fitted.shape().ToString(), "[2,2,1]");
  ExpectNear(Run(fitted, {{x, value}}), {1, 2, 0, 0});
  ExpectNear(Run(PadToBoundingBox(x, 1, 0, 2, 4), {{x, value}}), {0, 0, 0, 0, 1, 2, 3, 0});
  ExpectNear(Run(CropToBoundingBox(x, 0, 1, 1, 2), {{x, value}}), {2, 3});
  EXPECT_EQ(Run(RandomCrop(x, {1, 2, 1}, {.seed = 3}), {{x, value}}).num_elements(), 2);
  const float side = 1.2247449F;  // 1 / sqrt(2 / 3)
  ExpectNear(Run(PerImageStandardization(x), {{x, value}}), {-side, 0, side});
  EXPECT_EQ(Run(RandomFlipLeftRight(x, {.seed = 1}), {{x, value}}).data<float>()[1], 2);
}

// Values of a draw are within its bounds, one for the whole image, and another each time.
TEST_F(BoxesTest, RandomBrightnessAndContrast) {
  const Tensor value = Tensor::Of<float>(Shape{1, 2, 2}, {10, 1, 30, 5});
  const Output x = Placeholder(DType::kFloat, PartialShape{1, 2, 2});
  const Output brighter = RandomBrightness(x, 63, {.seed = 1});
  const Output contrast = RandomContrast(x, 0.2F, 1.8F, {.seed = 2});
  Session session(graph_);
  std::vector<float> deltas, factors;
  for (int i = 0; i < 20; ++i) {
    const Tensor b = session.Run({{x, value}}, brighter);
    deltas.push_back(b.data<float>()[0] - 10);
    EXPECT_NEAR(b.data<float>()[3], 5 + deltas.back(), 1e-5);
    EXPECT_LE(std::abs(deltas.back()), 63);
    // Each channel keeps its mean: 20 and 3.
    const Tensor c = session.Run({{x, value}}, contrast);
    factors.push_back((c.data<float>()[2] - c.data<float>()[0]) / 20);
    EXPECT_GE(factors.back(), 0.2F);
    EXPECT_LT(factors.back(), 1.8F);
    EXPECT_NEAR(c.data<float>()[0], 20 - 10 * factors.back(), 1e-4);
    EXPECT_NEAR(c.data<float>()[3], 3 + 2 * factors.back(), 1e-4);
  }
  std::ranges::sort(deltas);
  std::ranges::sort(factors);
  EXPECT_LT(deltas.front(), -20);
  EXPECT_GT(deltas.back(), 20);
  EXPECT_LT(factors.front(), 0.7F);
  EXPECT_GT(factors.back(), 1.3F);
  const Output bytes = Const(Tensor::Of<uint8_t>(Shape{1, 2, 1}, {0, 255}));
  EXPECT_EQ(Run(RandomContrast(bytes, 0.5F, 0.6F)).dtype(), DType::kUInt8);
  EXPECT_THROW(RandomBrightness(x, -1), Error);
  EXPECT_THROW(RandomContrast(x, 1, 1), Error);
  EXPECT_THROW(RandomContrast(x, -0.5F, 1), Error);
}

TEST_F(BoxesTest, ConvertsTypesOfImages) {
  const Output bytes = Const(Tensor::Of<uint8_t>(Shape{1, 2, 1}, {0, 255}));
  ExpectNear(Run(ConvertImageDtype(bytes, DType::kFloat)), {0, 1});
  EXPECT_EQ(Elements<uint8_t>(Run(AdjustBrightness(bytes, 0.2F))), (std::vector<uint8_t>{51, 255}));
  const Output reals = Const(Tensor::Of<float>(Shape{1, 3, 1}, {-1, 0.5F, 2}));
  EXPECT_EQ(Elements<uint8_t>(Run(ConvertImageDtype(reals, DType::kUInt8, {.saturate = true}))),
            (std::vector<uint8_t>{0, 127, 255}));
}

}  // namespace
}  // namespace sextant

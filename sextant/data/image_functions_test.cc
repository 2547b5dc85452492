// Expected values are those that TensorFlow 2.15's tf.image gives for the same input.
#include "sextant/data/image_functions.h"

#include <gtest/gtest.h>

#include "sextant/data/source_test_helpers.h"
#include "sextant/formats/image/png.h"

namespace sextant::data {
namespace {

// [3, 4, 2]: 11, 48, 85 …
Tensor Bytes() {
  Tensor image(DType::kUInt8, {3, 4, 2});
  for (int i = 0; i < 24; ++i) image.data<uint8_t>()[i] = static_cast<uint8_t>(i * 37 + 11);
  return image;
}
Tensor Floats() {
  Tensor image = ToFloat(Bytes()).Clone();
  for (float& value : image.flat<float>()) value /= 7.0f;
  return image;
}

void ExpectBytes(const Tensor& actual, const Shape& shape, const std::vector<int>& expected) {
  ASSERT_EQ(actual.dtype(), DType::kUInt8);
  EXPECT_EQ(actual.shape(), shape);
  const auto pixels = actual.flat<uint8_t>();
  EXPECT_EQ(std::vector<int>(pixels.begin(), pixels.end()), expected);
}
void ExpectNear(const Tensor& actual, const std::vector<float>& expected, float tolerance) {
  ASSERT_EQ(actual.num_elements(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual.data<float>()[i], expected[i], tolerance) << i;
  }
}

TEST(ImageFunctionsTest, PadsAndCrops) {
  ExpectBytes(PadImage(Bytes(), 1, 0, 5, 5), {5, 5, 2},
              {0,   0,  0,  0,  0,  0,   0,   0,   0,   0,  11, 48, 85, 122, 159, 196, 233,
               14,  0,  0,  51, 88, 125, 162, 199, 236, 17, 54, 0,  0,  91,  128, 165, 202,
               239, 20, 57, 94, 0,  0,   0,   0,   0,   0,  0,  0,  0,  0,   0,   0});
  ExpectBytes(CropImage(Bytes(), 1, 1, 2, 2), {2, 2, 2}, {125, 162, 199, 236, 165, 202, 239, 20});
  ExpectBytes(CropOrPad(Bytes(), 2, 7), {2, 7, 2},
              {0, 0, 11, 48, 85,  122, 159, 196, 233, 14, 0, 0, 0, 0,
               0, 0, 51, 88, 125, 162, 199, 236, 17,  54, 0, 0, 0, 0});
  ExpectBytes(CropOrPad(Bytes(), 6, 3), {6, 3, 2},
              {0,  0,   0,   0,   0,   0,  11, 48, 85, 122, 159, 196, 51, 88, 125, 162, 199, 236,
               91, 128, 165, 202, 239, 20, 0,  0,  0,  0,   0,   0,   0,  0,  0,   0,   0,   0});
}

TEST(ImageFunctionsTest, Flips) {
  ExpectBytes(FlipLeftRight(Bytes()), {3, 4, 2},
              {233, 14,  159, 196, 85, 122, 11,  48, 17,  54,  199, 236,
               125, 162, 51,  88,  57, 94,  239, 20, 165, 202, 91,  128});
  ExpectBytes(FlipUpDown(Bytes()), {3, 4, 2},
              {91,  128, 165, 202, 239, 20, 57, 94,  51,  88,  125, 162,
               199, 236, 17,  54,  11,  48, 85, 122, 159, 196, 233, 14});
}

TEST(ImageFunctionsTest, AdjustsBrightness) {
  ExpectBytes(AdjustBrightness(Bytes(), 0.1f), {3, 4, 2},
              {36,  73,  110, 147, 184, 221, 255, 39,  76,  113, 150, 187,
               224, 255, 42,  79,  116, 153, 190, 227, 255, 45,  82,  119});
  ExpectBytes(AdjustBrightness(Bytes(), -0.3f), {3, 4, 2},
              {0,   0,   8, 45, 82, 119, 156, 0,   0,   11, 48, 85,
               122, 159, 0, 0,  14, 51,  88,  125, 162, 0,  0,  17});
  ExpectNear(CropImage(AdjustBrightness(Floats(), 0.25f), 0, 0, 1, 2),
             {1.82142854f, 7.10714293f, 12.3928576f, 17.6785717f}, 0);
}

TEST(ImageFunctionsTest, AdjustsContrast) {
  ExpectBytes(AdjustContrast(Bytes(), 1.7f), {3, 4, 2},
              {0,   2,   61, 128, 187, 254, 255, 0,   3,   70, 129, 196,
               255, 255, 0,  12,  71,  138, 197, 255, 255, 0,  13,  80});
  ExpectNear(CropImage(AdjustContrast(Floats(), 0.4f), 2, 0, 1, 4),
             {15.4285717f, 17.0571423f, 19.6571426f, 21.2857132f, 23.8857136f, 10.8857136f,
              13.485714f, 15.1142855f},
             2e-6f);
}

// All 256 values at once, summed up with weights 1, 2, 3 …
int64_t WeightedSum(const Tensor& image) {
  int64_t sum = 0;
  for (int64_t i = 0; i < image.num_elements(); ++i) sum += (i + 1) * image.data<uint8_t>()[i];
  return sum;
}

TEST(ImageFunctionsTest, RoundsBytesAsTensorFlowDoes) {
  Tensor all(DType::kUInt8, {16, 16, 1});
  for (int i = 0; i < 256; ++i) all.data<uint8_t>()[i] = static_cast<uint8_t>(i);
  EXPECT_EQ(WeightedSum(AdjustBrightness(all, 0.0f)), 5592320);
  EXPECT_EQ(WeightedSum(AdjustBrightness(all, 0.1f)), 6334120);
  EXPECT_EQ(WeightedSum(AdjustBrightness(all, -0.2f)), 3938050);
  EXPECT_EQ(WeightedSum(AdjustBrightness(all, 0.37f)), 7679919);
  EXPECT_EQ(WeightedSum(AdjustBrightness(all, 63 / 255.0f)), 7190336);
  EXPECT_EQ(WeightedSum(AdjustContrast(all, 0.2f)), 4467328);
  EXPECT_EQ(WeightedSum(AdjustContrast(all, 0.5f)), 4889152);
  EXPECT_EQ(WeightedSum(AdjustContrast(all, 1.0f)), 5592320);
  EXPECT_EQ(WeightedSum(AdjustContrast(all, 1.3f)), 5869732);
  EXPECT_EQ(WeightedSum(AdjustContrast(all, 1.8f)), 6066388);
}

TEST(ImageFunctionsTest, Standardizes) {
  ExpectNear(CropImage(Standardize(Bytes()), 0, 0, 1, 4),
             {-1.43347371f, -0.930738866f, -0.428003997f, 0.0747308582f, 0.577465713f, 1.08020055f,
              1.58293545f, -1.3927114f},
             3e-7f);
  Tensor flat(DType::kUInt8, {2, 2, 1});
  std::fill_n(flat.data<uint8_t>(), 4, uint8_t{9});
  ExpectNear(Standardize(flat), {0, 0, 0, 0}, 0);
}

TEST(ImageFunctionsTest, Resizes) {
  ExpectNear(Resize(Bytes(), 5, 3),
             {23.3333359f, 60.3333359f, 122, 159,         220.666687f, 44.3332977f,
              39.3333359f, 76.3333359f, 138, 175,         151.333328f, 60.3332977f,
              63.3333359f, 100.333336f, 162, 199,         47.3332977f, 84.3332977f,
              87.3333435f, 124.333336f, 186, 146.199982f, 71.3333054f, 82.7333298f,
              103.333336f, 140.333328f, 202, 111,         87.3332977f, 81.6666794f},
             2e-5f);
  ExpectNear(Resize(Bytes(), 2, 7),
             {21,  58,          47.4285774f, 84.4285736f, 89.7142868f, 126.714287f, 132,
              169, 169.714294f, 192.999969f, 175.428574f, 88.9999695f, 179,         24,
              81,  118,         107.428574f, 144.428574f, 149.714294f, 186.714294f, 192,
              133, 215.999969f, 74.7142944f, 111.999969f, 80.4285736f, 47,          84},
             2e-5f);
}

TEST(ImageFunctionsTest, DecodesFiles) {
  const Tensor image = CropImage(Bytes(), 0, 0, 3, 4);
  Tensor rgb(DType::kUInt8, {2, 2, 3});
  for (int i = 0; i < 12; ++i) rgb.data<uint8_t>()[i] = static_cast<uint8_t>(20 * i);
  const std::string png = WritePng(rgb.raw_data(), {2, 2, 3}, {});
  EXPECT_TRUE(DecodeImage(png).Identical(rgb));
  EXPECT_EQ(DecodeImage(png, 1).shape(), (Shape{2, 2, 1}));
  EXPECT_NE(ErrorOf([] { DecodeImage("no image"); }).find("8 bytes are not a PNG"),
            std::string::npos);
  EXPECT_EQ(ErrorOf([&] { DecodeImage(png.substr(0, 30)); }).substr(0, 16), "INVALID_ARGUMENT");
}

TEST(ImageFunctionsTest, RandomFunctionsFollowTheirStream) {
  int flips = 0;
  std::vector<int> rows(3), columns(2);
  for (int64_t seed = 1; seed <= 200; ++seed) {
    Philox random = Philox::ForSeeds(seed, 1), same = random;
    const Tensor flipped = RandomFlip(Bytes(), random);
    EXPECT_TRUE(RandomFlip(Bytes(), same).Identical(flipped));
    flips += !flipped.Identical(Bytes());
    const uint8_t first = RandomCrop(Bytes(), 1, 3, random).data<uint8_t>()[0];
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 2; ++x) {
        if (first != Bytes().data<uint8_t>()[y * 8 + x * 2]) continue;
        ++rows[static_cast<size_t>(y)];
        ++columns[static_cast<size_t>(x)];
      }
    }
    const float added =
        RandomBrightness(Floats(), 2.0f, random).data<float>()[0] - Floats().data<float>()[0];
    EXPECT_TRUE(added >= -2.0f && added <= 2.0f);
    EXPECT_EQ(RandomContrast(Floats(), 0.2f, 1.8f, random).shape(), Bytes().shape());
  }
  EXPECT_NEAR(flips, 100, 30);
  for (const int count : rows) EXPECT_NEAR(count, 67, 30);
  for (const int count : columns) EXPECT_NEAR(count, 100, 35);
}

// The same by the plain functions, one after another.
TEST(PadCropFlipTest, IsTheSameAsItsParts) {
  for (const int64_t width : {32, 5, 9}) {
    for (const int64_t channels : {3, 1, 4}) {
      const int64_t height = 12, count = 60, pad = 4;
      Tensor images(DType::kUInt8, {count, channels, height, width});
      for (int64_t i = 0; i < images.num_elements(); ++i) {
        images.data<uint8_t>()[i] = static_cast<uint8_t>(i * 151 + i / 7);
      }
      Philox random = Philox::ForSeeds(5, 6), again = random;
      const Tensor made =
          PadCropFlip(images, {.pad = pad, .offset = 128.0f, .scale = 1.0f / 128}, random);
      const Tensor plain = HwcFloats(images);
      for (int64_t i = 0; i < count; ++i) {
        const Philox::Block words = again.Next();
        const int64_t y = static_cast<int64_t>(words[0] * uint64_t{9} >> 32);
        const int64_t x = static_cast<int64_t>(words[1] * uint64_t{9} >> 32);
        const Tensor source = ToHwc(images.Rows(i, i + 1).Reshaped({channels, height, width}));
        Tensor expected = CropImage(PadImage(source, pad, pad, height + 2 * pad, width + 2 * pad),
                                    y, x, height, width);
        if (words[2] & 1) expected = FlipLeftRight(expected);
        Tensor floats = ToFloat(expected);
        for (float& value : floats.flat<float>()) value = (value - 128.0f) / 128.0f;
        const Tensor row = made.Rows(i, i + 1).Reshaped(floats.shape()).Clone();
        ASSERT_TRUE(row.Identical(floats)) << width << " " << channels << " " << i;
        ASSERT_TRUE(
            plain.Rows(i, i + 1).Reshaped(floats.shape()).Clone().Identical(ToFloat(source)));
      }
    }
  }
  Philox random(1, {});
  EXPECT_NE(ErrorOf([&] { PadCropFlip(Floats(), {}, random); }).find("must be uint8"),
            std::string::npos);
}

TEST(ImageFunctionsTest, RefuseWhatIsNoImage) {
  const Tensor vector = Tensor::Of<float>({1, 2});
  for (const auto& error :
       {ErrorOf([&] { FlipLeftRight(vector); }), ErrorOf([&] { Standardize(vector); }),
        ErrorOf([&] { Resize(vector, 1, 1); })}) {
    EXPECT_EQ(error,
              "INVALID_ARGUMENT: an image must be uint8 or float [height, width, channels], got "
              "float[2]");
  }
  EXPECT_NE(ErrorOf([] { CropImage(Bytes(), 2, 0, 2, 1); }).find("is not inside"),
            std::string::npos);
  EXPECT_NE(ErrorOf([] { PadImage(Bytes(), 1, 0, 3, 4); }).find("does not fit"), std::string::npos);
  EXPECT_NE(ErrorOf([] { Resize(Bytes(), 0, 4); }).find("cannot resize"), std::string::npos);
}

}  // namespace
}  // namespace sextant::data

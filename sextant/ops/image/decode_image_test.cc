#include "sextant/ops/image/decode_image.h"

#include "sextant/ops/image/encode_image.h"
#include "sextant/ops/image/image_ops_test.h"

namespace sextant {
namespace {

using DecodeImageTest = ImageOpsTest;

// One pixel of 24 bits: blue 1, green 2, red 3.
std::string OnePixelBmp() {
  std::string bmp(54, '\0');
  bmp[0] = 'B';
  bmp[1] = 'M';
  bmp[10] = 54;
  bmp[18] = bmp[22] = 1;
  bmp[28] = 24;
  return bmp + std::string("\1\2\3\0", 4);
}

TEST_F(DecodeImageTest, ReadsBmp) {
  const Output file = Const(Tensor(OnePixelBmp()));
  EXPECT_EQ(Elements<uint8_t>(Run(DecodeBmp(file))), (std::vector<uint8_t>{3, 2, 1}));
  EXPECT_EQ(Elements<uint8_t>(Run(DecodeBmp(file, 4))), (std::vector<uint8_t>{3, 2, 1, 255}));
  EXPECT_EQ(Run(DecodeImage(file)).shape().ToString(), "[1,1,3]");
  EXPECT_NE(ErrorOf(DecodePng(file)).find("INVALID_ARGUMENT"), std::string::npos);
}

TEST_F(DecodeImageTest, ScalesToOtherTypes) {
  const Output file = EncodePng(Const(Tensor::Of<uint8_t>(Shape{1, 2, 1}, {0, 255})));
  EXPECT_EQ(Elements<float>(Run(DecodeImage(file, {.dtype = DType::kFloat}))),
            (std::vector<float>{0, 1}));
  EXPECT_EQ(Elements<uint16_t>(Run(DecodePng(file, {.dtype = DType::kUInt16}))),
            (std::vector<uint16_t>{0, 65535}));
  EXPECT_EQ(Run(DecodeGif(file)).shape().ToString(), "[1,1,2,3]");
}

TEST_F(DecodeImageTest, KnowsTheChannelsBeforeItRuns) {
  const Output file = Placeholder(DType::kString, PartialShape(Shape()));
  EXPECT_EQ(DecodePng(file, {.channels = 3}).shape().ToString(), "[?,?,3]");
  EXPECT_EQ(DecodeGif(file).shape().ToString(), "[?,?,?,3]");
  EXPECT_FALSE(DecodeImage(file).shape().rank_known());
}

TEST_F(DecodeImageTest, RefusesWhatItCannotRead) {
  EXPECT_NE(ErrorOf(DecodePng(Const(Tensor("garbage")))).find("Unknown image file format"),
            std::string::npos);
  EXPECT_NE(ErrorOf(DecodePng(Const(Tensor("")))).find("Input is empty"), std::string::npos);
  const Output jpeg = EncodeJpeg(Const(Tensor::Zeros(DType::kUInt8, Shape{8, 8, 3})));
  EXPECT_NE(ErrorOf(DecodeJpeg(jpeg, {.channels = 4})).find("4 channels"), std::string::npos);
  EXPECT_NE(ErrorOf(DecodeJpeg(jpeg, {.ratio = 3})).find("ratio must be"), std::string::npos);
  EXPECT_NE(ErrorOf(DecodeAndCropJpeg(jpeg, ConstInts({4, 4, 5, 1}))).find("crop window"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant

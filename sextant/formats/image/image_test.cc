// The codecs: hand-made files, and bytes that end anywhere.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/formats/image/bmp.h"
#include "sextant/formats/image/gif.h"
#include "sextant/formats/image/jpeg.h"
#include "sextant/formats/image/png.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

using Pixels = std::vector<uint8_t>;

std::string Text(const Pixels& bytes) { return std::string(bytes.begin(), bytes.end()); }

struct Picture {
  int64_t frames = 1;
  ImageSize size;
  Pixels pixels;

  void* Allocate(int64_t num_frames, const ImageSize& s, size_t element = 1) {
    frames = num_frames;
    size = s;
    pixels.resize(static_cast<size_t>(frames * s.height) * s.row_elements() * element);
    return pixels.data();
  }
};

Picture Png(const std::string& bytes, const PngReadOptions& options = {}) {
  Picture p;
  ReadPng(bytes, options,
          [&](const ImageSize& s) { return p.Allocate(1, s, options.deep ? 2 : 1); });
  return p;
}
Picture Jpeg(const std::string& bytes, const JpegReadOptions& options = {}) {
  Picture p;
  ReadJpeg(bytes, options, [&](const ImageSize& s) { return p.Allocate(1, s); });
  return p;
}
Picture Gif(const std::string& bytes) {
  Picture p;
  ReadGif(bytes, {}, [&](int64_t frames, const ImageSize& s) { return p.Allocate(frames, s); });
  return p;
}
Picture Bmp(const std::string& bytes, int channels = 0) {
  Picture p;
  ReadBmp(bytes, channels, [&](const ImageSize& s) { return p.Allocate(1, s); });
  return p;
}

// A ramp with some structure, so that no two pixels near each other are equal.
Pixels Ramp(size_t count) {
  Pixels ramp(count);
  for (size_t i = 0; i < count; ++i) ramp[i] = static_cast<uint8_t>(i * 7 + i / 11);
  return ramp;
}

TEST(PngTest, RoundTripsAllChannelCounts) {
  for (int channels = 1; channels <= 4; ++channels) {
    const ImageSize size{3, 5, channels};
    const Pixels pixels = Ramp(15 * channels * 2);
    const Pixels shallow(pixels.begin(), pixels.begin() + 15 * channels);
    EXPECT_EQ(Png(WritePng(shallow.data(), size, {})).pixels, shallow);
    const std::string deep = WritePng(pixels.data(), size, {.deep = true, .compression = 9});
    const Picture read = Png(deep, {.deep = true});
    EXPECT_EQ(read.pixels, pixels);
    EXPECT_EQ(read.size.channels, channels);
  }
}

TEST(PngTest, ConvertsChannelsAndDepth) {
  const Pixels gray = {10, 200};
  const std::string png = WritePng(gray.data(), {1, 2, 1}, {});
  EXPECT_EQ(Png(png, {.channels = 4}).pixels, (Pixels{10, 10, 10, 255, 200, 200, 200, 255}));
  EXPECT_EQ(Png(png, {.deep = true}).pixels, (Pixels{10, 10, 200, 200}));
  const uint16_t deep[] = {0x1234, 0xFEDC};
  EXPECT_EQ(Png(WritePng(deep, {1, 2, 1}, {.deep = true})).pixels, (Pixels{0x12, 0xFE}));
}

TEST(PngTest, EveryCutIsAnError) {
  const Pixels pixels = Ramp(7 * 5 * 3);
  const std::string png = WritePng(pixels.data(), {7, 5, 3}, {});
  for (size_t n = 0; n < png.size(); ++n) {
    EXPECT_EQ(StatusOf([&] { Png(png.substr(0, n)); }).code(), Code::kInvalidArgument) << n;
  }
  std::string huge = png;  // the width in the header; its checksum is wrong then, too
  huge[16] = 0x7F;
  EXPECT_EQ(StatusOf([&] { Png(huge); }).code(), Code::kInvalidArgument);
}

TEST(PngTest, RefusesWhatItCannotWrite) {
  EXPECT_EQ(StatusOf([] { WritePng("", {0, 2, 3}, {}); }).code(), Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([] { WritePng("", {1, 1, 5}, {}); }).code(), Code::kInvalidArgument);
}

TEST(JpegTest, KeepsFlatColours) {
  Pixels pixels;
  for (int i = 0; i < 16 * 16; ++i) pixels.insert(pixels.end(), {200, 100, 50});
  const std::string jpeg = WriteJpeg(pixels.data(), {16, 16, 3}, {.quality = 100});
  const Picture read = Jpeg(jpeg);
  ASSERT_EQ(read.pixels.size(), pixels.size());
  for (size_t i = 0; i < pixels.size(); ++i) EXPECT_NEAR(read.pixels[i], pixels[i], 2);
  EXPECT_EQ(Jpeg(jpeg, {.ratio = 4}).size.width, 4);
  EXPECT_EQ(Jpeg(jpeg, {.channels = 1}).pixels.size(), 256u);
  const Picture part = Jpeg(jpeg, {.crop = CropWindow{3, 5, 2, 9}});
  EXPECT_EQ(part.size.height, 2);
  EXPECT_EQ(part.size.width, 9);
  EXPECT_EQ(StatusOf([&] {
              Jpeg(jpeg, {.crop = CropWindow{3, 8, 2, 9}});
            }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(ReadJpegSize(jpeg).channels, 3);
}

TEST(JpegTest, EveryCutIsAnErrorUnlessRecovered) {
  const Pixels pixels = Ramp(20 * 18 * 3);
  for (const bool progressive : {false, true}) {
    const std::string jpeg =
        WriteJpeg(pixels.data(), {20, 18, 3}, {.progressive = progressive, .xmp_metadata = "x"});
    for (size_t n = 0; n < jpeg.size(); ++n) {
      EXPECT_EQ(StatusOf([&] { Jpeg(jpeg.substr(0, n)); }).code(), Code::kInvalidArgument) << n;
    }
    const std::string cut = jpeg.substr(0, jpeg.size() - 20);
    EXPECT_EQ(Jpeg(cut, {.try_recover_truncated = true}).pixels.size(), pixels.size());
  }
}

// Indices 0 1 / 2 3 of a palette of four colours, sent in codes of 3 bits with clears between.
const Pixels kPalette = {255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 8, 7};
Pixels GifHeader() {
  Pixels gif = {'G', 'I', 'F', '8', '9', 'a', 2, 0, 2, 0, 0x81, 0, 0};
  gif.insert(gif.end(), kPalette.begin(), kPalette.end());
  return gif;
}
// clear 0 1 clear 2 3 end = 100 000 001 100 010 011 101, low bits first.
const Pixels kFrame = {0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 3, 0x44, 0xA8, 0x15, 0};

TEST(GifTest, DrawsFramesOverEachOther) {
  Pixels gif = GifHeader();
  gif.insert(gif.end(), kFrame.begin(), kFrame.end());
  const Pixels transparent_one = {0x21, 0xF9, 4, 1, 0, 0, 1, 0};
  gif.insert(gif.end(), transparent_one.begin(), transparent_one.end());
  Pixels shifted = kFrame;
  shifted[1] = 1;  // one to the right: its left column covers the right one
  gif.insert(gif.end(), shifted.begin(), shifted.end());
  gif.push_back(0x3B);
  const Picture read = Gif(Text(gif));
  EXPECT_EQ(read.frames, 2);
  EXPECT_EQ(read.pixels, (Pixels{255, 0, 0, 0,   255, 0, 0, 0, 255, 9, 8, 7,  //
                                 255, 0, 0, 255, 0,   0, 0, 0, 255, 0, 0, 255}));
  const std::string text = Text(gif);
  for (size_t n = 0; n < text.size(); ++n) {
    const Code code = StatusOf([&] { Gif(text.substr(0, n)); }).code();
    EXPECT_TRUE(code == Code::kOk || code == Code::kInvalidArgument) << n;
  }
  EXPECT_EQ(StatusOf([&] { Gif(text.substr(0, 30)); }).code(), Code::kInvalidArgument);
}

Pixels BmpOf(uint8_t width, uint8_t height, uint8_t bits, const Pixels& pixels) {
  Pixels bmp(54, 0);
  bmp[0] = 'B';
  bmp[1] = 'M';
  bmp[10] = 54;
  bmp[18] = width;
  bmp[22] = height;
  bmp[28] = bits;
  for (const uint8_t byte : pixels) bmp.push_back(byte);
  return bmp;
}

TEST(BmpTest, ReadsRowsFromTheBottom) {
  const Pixels bmp = BmpOf(1, 2, 24, {1, 2, 3, 0, 4, 5, 6, 0});
  EXPECT_EQ(Bmp(Text(bmp)).pixels, (Pixels{6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(Bmp(Text(bmp), 4).pixels, (Pixels{6, 5, 4, 255, 3, 2, 1, 255}));
  for (size_t n = 0; n < bmp.size(); ++n) {
    EXPECT_EQ(StatusOf([&] { Bmp(Text(bmp).substr(0, n)); }).code(), Code::kInvalidArgument) << n;
  }
}

}  // namespace
}  // namespace sextant

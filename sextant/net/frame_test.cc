#include "sextant/net/frame.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "sextant/base/crc32c.h"
#include "sextant/base/error.h"

namespace sextant::net {
namespace {

std::string Join(const EncodedFrame& frame) {
  std::string bytes;
  for (const FramePiece& piece : frame.pieces) bytes.append(piece.bytes);
  EXPECT_EQ(bytes.size(), frame.bytes);
  return bytes;
}

DecodedFrame Decode(std::string_view bytes) { return DecodeFrame(std::span(&bytes, 1)); }

Status DecodeStatus(std::string_view bytes) {
  try {
    Decode(bytes);
  } catch (const Error& error) {
    return error.status();
  }
  return {};
}

std::vector<Tensor> Samples() {
  Tensor large(DType::kFloat, {100, 17});
  for (int i = 0; i < 1700; ++i) large.data<float>()[i] = static_cast<float>(i) * 0.5f;
  return {large,
          Tensor(7),
          Tensor::Of<std::string>({2, 2}, {"", "a", std::string("\0b", 2), std::string(3000, 'x')}),
          Tensor(),
          Tensor(DType::kDouble, {0, 5}),
          Tensor::Of<bool>({true, false, true}),
          Tensor(DType::kString, {0}),
          Tensor::Of<int64_t>({1, 1, 2}, {-1, int64_t{1} << 60}),
          large.Rows(3, 90)};
}

void ExpectSamples(const std::vector<Tensor>& got) {
  const std::vector<Tensor> want = Samples();
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    ASSERT_EQ(got[i].valid(), want[i].valid()) << i;
    if (!want[i].valid()) continue;
    EXPECT_TRUE(got[i].Identical(want[i])) << i << got[i].ToString();
  }
}

TEST(FrameTest, BringsTensorsAndTheMessage) {
  const DecodedFrame got = Decode(Join(EncodeFrame("step 7", Samples())));
  EXPECT_EQ(got.message, "step 7");
  ExpectSamples(got.tensors);
}

// The layout is written down in frame.h; here is a frame made by hand after it.
TEST(FrameTest, HasTheDocumentedLayout) {
  std::string want("SXTF\1\0\0\0\x33\0\0\0????\3\0\0\0\1\0\0\0abc\3\1\0\0\0\0\0\0", 35);
  want.append(std::string("\2\0\0\0\0\0\0\0\x8\0\0\0\0\0\0\0", 16));
  const uint32_t crc =
      MaskCrc32c(ExtendCrc32c(ExtendCrc32c(0, want.substr(0, 12)), want.substr(16)));
  std::memcpy(&want[12], &crc, 4);
  want.resize(64, '\0');
  want.append(std::string("\5\0\0\0\xFF\xFF\xFF\xFF", 8));
  EXPECT_EQ(Join(EncodeFrame("abc", std::vector{Tensor::Of<int32_t>({5, -1})})), want);
}

TEST(FrameTest, BorrowsLargeTensorsAndKeepsThemAlive) {
  Tensor large(DType::kFloat, {1000});
  const void* place = large.raw_data();
  const EncodedFrame frame = EncodeFrame("", std::vector{large});
  EXPECT_FALSE(large.unique());
  bool borrowed = false;
  for (const FramePiece& piece : frame.pieces) borrowed |= piece.bytes.data() == place;
  EXPECT_TRUE(borrowed);
}

TEST(FrameTest, SmallTensorsShareAPiece) {
  const std::vector<Tensor> tensors(136, Tensor(DType::kFloat, {16}));
  EXPECT_EQ(EncodeFrame("", tensors).pieces.size(), 1u);
}

TEST(FrameTest, PayloadsAreAlignedInTheFrame) {
  const EncodedFrame frame =
      EncodeFrame("odd", std::vector{Tensor(DType::kInt8, {1025}), Tensor(DType::kFloat, {512})});
  size_t offset = 0;
  for (const FramePiece& piece : frame.pieces) {
    if (piece.bytes.size() >= 1024) {
      EXPECT_EQ(offset % 64, 0u);
    }
    offset += piece.bytes.size();
  }
}

TEST(FrameTest, PiecesMayBeCutAnywhere) {
  const std::string bytes = Join(EncodeFrame("message", Samples()));
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string_view> pieces;
    const size_t longest = round == 0 ? 1 : 1 + random() % 3000;
    for (std::string_view left = bytes; !left.empty();) {
      const size_t size = round == 0 ? 1 : random() % (longest + 1);  // empty ones too
      pieces.push_back(left.substr(0, size));
      left.remove_prefix(pieces.back().size());
    }
    const DecodedFrame got = DecodeFrame(pieces);
    EXPECT_EQ(got.message, "message");
    ExpectSamples(got.tensors);
  }
}

TEST(FrameTest, EveryTruncationIsFound) {
  const std::string bytes = Join(EncodeFrame("message", Samples()));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_EQ(DecodeStatus(bytes.substr(0, size)).code(), Code::kDataLoss) << size;
  EXPECT_EQ(DecodeStatus(bytes + "x").code(), Code::kDataLoss);
}

TEST(FrameTest, EveryFlippedBitOfTheHeaderIsFound) {
  const std::string bytes = Join(EncodeFrame("message", Samples()));
  uint32_t header = 0;
  std::memcpy(&header, &bytes[8], 4);
  for (size_t bit = 0; bit < header * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    const Code code = DecodeStatus(damaged).code();
    const bool version = bit / 32 == 1;
    EXPECT_EQ(code, version ? Code::kUnimplemented : Code::kDataLoss) << bit;
  }
}

TEST(FrameTest, SaysWhatCannotBeSent) {
  const Tensor resource(DType::kResource, {});
  EXPECT_THROW(EncodeFrame("", std::vector{resource}), Error);
  std::string bytes = Join(EncodeFrame("", std::vector{Tensor(true)}));
  bytes.back() = 2;
  EXPECT_EQ(DecodeStatus(bytes).message(), "tensor 0 of a frame: a bool that is neither 0 nor 1");
}

}  // namespace
}  // namespace sextant::net

#include "sextant/ops/parsing/decode_raw.h"

#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

using DecodeRawTest = StringTest;

TEST_F(DecodeRawTest, Numbers) {
  const Output x = Text({std::string("\x01\x00\x02\x01", 4), std::string("\x00\x03\xff\xff", 4)});
  EXPECT_TRUE(
      Run(DecodeRaw(x, DType::kInt16)).Identical(Tensor::Of<int16_t>({2, 2}, {1, 258, 768, -1})));
  EXPECT_TRUE(Run(DecodeRaw(x, DType::kInt16, {.little_endian = false}))
                  .Identical(Tensor::Of<int16_t>({2, 2}, {256, 513, 3, -1})));
  EXPECT_TRUE(Run(DecodeRaw(One("ab"), DType::kUInt8)).Identical(Tensor::Of<uint8_t>({97, 98})));
  EXPECT_EQ(Run(DecodeRaw(Const(Tensor(DType::kString, Shape{0})), DType::kFloat)).shape(),
            (Shape{0, 0}));
}

TEST_F(DecodeRawTest, RejectsLengths) {
  EXPECT_EQ(CodeOf(DecodeRaw(Text({"abcde"}), DType::kInt32)), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(DecodeRaw(Text({"abc", "ab"}), DType::kUInt8)), Code::kInvalidArgument);
}

TEST_F(DecodeRawTest, Padded) {
  const auto decode = [&](int32_t length) {
    return DecodePaddedRaw(Text({"abcdef", "gh"}), Const(Tensor(length)), DType::kInt32);
  };
  EXPECT_TRUE(Run(decode(8)).Identical(Tensor::Of<int32_t>({2, 2}, {1684234849, 26213, 26727, 0})));
  EXPECT_TRUE(Run(decode(4)).Identical(Tensor::Of<int32_t>({2, 1}, {1684234849, 26727})));
  for (const int32_t bad : {0, -4, 3}) EXPECT_EQ(CodeOf(decode(bad)), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant

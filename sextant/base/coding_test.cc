#include "sextant/base/coding.h"

#include <gtest/gtest.h>

#include <vector>

namespace sextant {
namespace {

using namespace std::string_literals;

TEST(CodingTest, FixedIsLittleEndian) {
  std::string bytes;
  PutFixed32(&bytes, 0x01020304);
  PutFixed64(&bytes, 0x1122334455667788);
  EXPECT_EQ(bytes, "\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11"s);
  std::string_view src = bytes;
  uint32_t a = 0;
  uint64_t b = 0;
  ASSERT_TRUE(GetFixed32(&src, &a));
  ASSERT_TRUE(GetFixed64(&src, &b));
  EXPECT_EQ(a, 0x01020304u);
  EXPECT_EQ(b, 0x1122334455667788u);
  EXPECT_FALSE(GetFixed32(&src, &a));
  EXPECT_EQ(a, 0x01020304u);
}

TEST(CodingTest, VarintBytes) {
  std::string bytes;
  PutVarint32(&bytes, 0);
  PutVarint32(&bytes, 127);
  PutVarint32(&bytes, 300);
  PutVarint64(&bytes, ~uint64_t{0});
  EXPECT_EQ(bytes, "\0\x7f\xac\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"s);
}

TEST(CodingTest, VarintsRoundTripAndTruncationsFail) {
  std::vector<uint64_t> values = {0, ~uint64_t{0}};
  for (int shift = 0; shift < 64; ++shift) {
    values.push_back(uint64_t{1} << shift);
    values.push_back((uint64_t{1} << shift) - 1);
  }
  for (const uint64_t value : values) {
    std::string bytes;
    PutVarint64(&bytes, value);
    for (size_t length = 0; length < bytes.size(); ++length) {
      std::string_view cut(bytes.data(), length);
      uint64_t decoded = 1234;
      EXPECT_FALSE(GetVarint64(&cut, &decoded));
      EXPECT_EQ(cut.size(), length);
      EXPECT_EQ(decoded, 1234u);
    }
    std::string_view src = bytes;
    uint64_t decoded = 0;
    ASSERT_TRUE(GetVarint64(&src, &decoded));
    EXPECT_EQ(decoded, value);
    EXPECT_TRUE(src.empty());
    src = bytes;
    uint32_t narrow = 0;
    EXPECT_EQ(GetVarint32(&src, &narrow), value >> 32 == 0);
  }
}

TEST(CodingTest, RejectsVarintsOfMoreThan64Bits) {
  uint64_t value;
  std::string_view too_large = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02";
  EXPECT_FALSE(GetVarint64(&too_large, &value));
  std::string_view endless = "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01";
  EXPECT_FALSE(GetVarint64(&endless, &value));
}

TEST(CodingTest, LengthPrefixed) {
  std::string_view src = "\3abcd";
  std::string_view value;
  ASSERT_TRUE(GetLengthPrefixed(&src, &value));
  EXPECT_EQ(value, "abc");
  EXPECT_EQ(src, "d");
  std::string_view short_src = "\5abcd";
  EXPECT_FALSE(GetLengthPrefixed(&short_src, &value));
  EXPECT_EQ(short_src.size(), 5u);
}

}  // namespace
}  // namespace sextant

#include "sextant/base/crc32c.h"

#include <gtest/gtest.h>

#include <string>

namespace sextant {
namespace {

TEST(Crc32cTest, MatchesPublishedValues) {
  EXPECT_EQ(Crc32c(""), 0u);
  EXPECT_EQ(Crc32c("123456789"), 0xE3069283u);
  EXPECT_EQ(Crc32c(std::string(32, '\0')), 0x8A9136AAu);
  EXPECT_EQ(Crc32c(std::string(32, '\xff')), 0x62A8AB43u);
}

TEST(Crc32cTest, MasksAndUnmasks) {
  EXPECT_EQ(MaskCrc32c(0xE3069283), 0xC78AB0E5u);
  EXPECT_EQ(UnmaskCrc32c(0xC78AB0E5), 0xE3069283u);
  EXPECT_EQ(MaskedCrc32c("123456789"), 0xC78AB0E5u);
}

TEST(Crc32cTest, TableAndInstructionAgreeAtEveryLengthSplitAndAlignment) {
  std::string data(100, '\0');
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i * 37 + 11);
  const std::string_view all = data;
  for (size_t length = 0; length <= all.size(); ++length) {
    const uint32_t crc = Crc32c(all.substr(0, length));
    EXPECT_EQ(internal::ExtendCrc32cByTable(0, all.substr(0, length)), crc) << length;
    const size_t split = length / 3;
    EXPECT_EQ(ExtendCrc32c(Crc32c(all.substr(0, split)), all.substr(split, length - split)), crc);
  }
}

TEST(Crc32cTest, JoinsTheSumsOfParts) {
  EXPECT_EQ(JoinCrc32c(Crc32c("12345"), Crc32c("6789"), 4), 0xE3069283u);
  EXPECT_EQ(JoinCrc32c(Crc32c("123456789"), Crc32c(""), 0), 0xE3069283u);
  const std::string zeros(100000, '\0');
  EXPECT_EQ(JoinCrc32c(Crc32c("abc"), Crc32c(zeros), zeros.size()), Crc32c("abc" + zeros));
}

TEST(Crc32cTest, BlocksAreJoinedAtEveryLength) {
  std::string data(8000, '\0');
  uint32_t random = 1;
  for (char& c : data) c = static_cast<char>((random = random * 1664525 + 1013904223) >> 24);
  const std::string_view all = data;
  for (size_t length = 0; length <= all.size(); length += length < 900 ? 1 : 97) {
    const std::string_view part = all.substr(length % 9, length);
    EXPECT_EQ(ExtendCrc32c(17, part), internal::ExtendCrc32cByTable(17, part)) << length;
  }
}

}  // namespace
}  // namespace sextant

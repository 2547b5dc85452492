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

}  // namespace
}  // namespace sextant

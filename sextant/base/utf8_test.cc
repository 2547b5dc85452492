#include "sextant/base/utf8.h"

#include <gtest/gtest.h>

namespace sextant {
namespace {

TEST(Utf8Test, DecodesCharactersOfAllLengths) {
  EXPECT_EQ(DecodeUtf8("h\xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80"), U"h\u00e9\u6f22\U0001F600");
}

// As ICU does: one replacement for each longest start of a character.
TEST(Utf8Test, ReplacesMalformedBytes) {
  EXPECT_EQ(DecodeUtf8("\xff\xe2\x82z"), U"\uFFFD\uFFFDz");
  EXPECT_EQ(DecodeUtf8("\xed\xa0\x80"), U"\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(DecodeUtf8("\xf4\x90\x80\x80"), U"\uFFFD\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(DecodeUtf8("\xc0\xaf"), U"\uFFFD\uFFFD");
  EXPECT_EQ(DecodeUtf8("\xf0\x9f\x98"), U"\uFFFD");
}

TEST(Utf8Test, EncodesWhatItDecodes) {
  for (char32_t c = 1; c < 0x110000; c += 61) {
    if (c >= 0xD800 && c < 0xE000) continue;
    std::string text;
    AppendUtf8(c, &text);
    EXPECT_EQ(DecodeUtf8(text), std::u32string(1, c));
  }
}

}  // namespace
}  // namespace sextant

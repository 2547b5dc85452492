#include "sextant/base/base64.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"

namespace sextant {
namespace {

std::string Encoded(std::string_view bytes, bool pad) {
  std::string text;
  EncodeBase64(bytes, pad, &text);
  return text;
}
std::string Decoded(std::string_view text) {
  std::string bytes;
  DecodeBase64(text, &bytes);
  return bytes;
}

TEST(Base64Test, Encodes) {
  EXPECT_EQ(Encoded("", true), "");
  EXPECT_EQ(Encoded("a", false), "YQ");
  EXPECT_EQ(Encoded("a", true), "YQ==");
  EXPECT_EQ(Encoded("ab", true), "YWI=");
  EXPECT_EQ(Encoded("abc", true), "YWJj");
  EXPECT_EQ(Encoded("\xc3\xbf\xc3\xbe", false), "w7_Dvg");
}

// Answers of TensorFlow's DecodeBase64.
TEST(Base64Test, Decodes) {
  EXPECT_EQ(Decoded(""), "");
  EXPECT_EQ(Decoded("aGVsbG8"), "hello");
  EXPECT_EQ(Decoded("aGVsbG8="), "hello");
  EXPECT_EQ(Decoded("ab=="), "i");
  EXPECT_EQ(Decoded("aGl"), "hi");  // bits left over are ignored
  EXPECT_EQ(Decoded("a_-b"), "k\xff\x9b");
  for (const char* bad : {"a", "a===", "aG=", "a G", "aGk+", "ab=c", "aGVsbG8==", "===="}) {
    EXPECT_THROW(Decoded(bad), Error) << bad;
  }
}

}  // namespace
}  // namespace sextant

#include "sextant/ops/string/string_transform.h"

#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

using StringTransformTest = StringTest;

TEST_F(StringTransformTest, Case) {
  const Output x = Text({"AbC", "\u00c9t\u00e9 stra\u00dfe"});
  EXPECT_EQ(RunStrings(StringLower(x)), (Strings{"abc", "\u00c9t\u00e9 stra\u00dfe"}));
  EXPECT_EQ(RunStrings(StringUpper(x)), (Strings{"ABC", "\u00c9T\u00e9 STRA\u00dfE"}));
  EXPECT_EQ(RunStrings(StringLower(x, {.encoding = "utf-8"})),
            (Strings{"abc", "\u00e9t\u00e9 stra\u00dfe"}));
  EXPECT_EQ(RunStrings(StringUpper(x, {.encoding = "utf-8"})),
            (Strings{"ABC", "\u00c9T\u00c9 STRASSE"}));
  EXPECT_EQ(CodeOf(StringLower(x, {.encoding = "latin1"})), Code::kInvalidArgument);
}

// What ICU, and with it TensorFlow, makes of these.
TEST_F(StringTransformTest, SpecialCases) {
  EXPECT_EQ(RunStrings(StringLower(
                Text({"\u0391\u03a3", "\u0391\u03a3\u0391", "\u03a3", "\u0391\u03a3.", "\u0130"}),
                {.encoding = "utf-8"})),
            (Strings{"\u03b1\u03c2", "\u03b1\u03c3\u03b1", "\u03c3", "\u03b1\u03c2.", "i\u0307"}));
  EXPECT_EQ(RunStrings(StringUpper(Text({"\ufb01", "\u0149", "\u1fb3", "a\xff\xe2\x82"}),
                                   {.encoding = "utf-8"})),
            (Strings{"FI", "\u02bcN", "\u0391\u0399", "A\ufffd\ufffd"}));
}

TEST_F(StringTransformTest, Strip) {
  EXPECT_EQ(RunStrings(StringStrip(Text({" \t\n\v\f\ra b ", "", "  ", "\u00a0x"}))),
            (Strings{"a b", "", "", "\u00a0x"}));
}

TEST_F(StringTransformTest, Base64) {
  EXPECT_EQ(RunStrings(EncodeBase64(Text({"", "a", "ab"}))), (Strings{"", "YQ", "YWI"}));
  EXPECT_EQ(RunStrings(EncodeBase64(Text({"a", "ab"}), {.pad = true})), (Strings{"YQ==", "YWI="}));
  EXPECT_EQ(RunStrings(DecodeBase64(Text({"aGVsbG8", "_-8"}))), (Strings{"hello", "\xff\xef"}));
  EXPECT_EQ(CodeOf(DecodeBase64(One("a+b/"))), Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant

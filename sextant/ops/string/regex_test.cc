#include "sextant/ops/string/regex.h"

#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

using RegexTest = StringTest;

TEST_F(RegexTest, Replace) {
  const Output x = Text({"ab12cd345", "a-b c-d", ""});
  EXPECT_EQ(RunStrings(RegexReplace(x, One("[0-9]+"), One("#"))),
            (Strings{"ab#cd#", "a-b c-d", ""}));
  EXPECT_EQ(RunStrings(StaticRegexReplace(x, "[0-9]+", "#", {.replace_global = false})),
            (Strings{"ab#cd345", "a-b c-d", ""}));
  EXPECT_EQ(RunStrings(StaticRegexReplace(x, R"((\w)-(\w))", R"(\2_\1)")),
            (Strings{"ab12cd345", "b_a d_c", ""}));
  // A group that is not there: nothing is replaced.
  EXPECT_EQ(RunStrings(StaticRegexReplace(x, "a", R"(\3)")), (Strings{"ab12cd345", "a-b c-d", ""}));
}

TEST_F(RegexTest, FullMatch) {
  const Output x = Text({"123", "a1", "1\n"});
  EXPECT_TRUE(
      Run(RegexFullMatch(x, One("[0-9]+"))).Identical(Tensor::Of<bool>({true, false, false})));
  EXPECT_TRUE(
      Run(StaticRegexFullMatch(x, "a?.")).Identical(Tensor::Of<bool>({false, true, false})));
}

TEST_F(RegexTest, RejectsBadPatterns) {
  EXPECT_EQ(CodeOf(RegexReplace(One("a"), One("("), One(""))), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(StaticRegexFullMatch(One("a"), "[")), Code::kInvalidArgument);
  EXPECT_THROW(RegexFullMatch(One("a"), Text({"a"})), Error);
}

}  // namespace
}  // namespace sextant

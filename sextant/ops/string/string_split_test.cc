#include "sextant/ops/string/string_split.h"

#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

using StringSplitTest = StringTest;

TEST_F(StringSplitTest, AtAnyCharacter) {
  const SparseTensor pieces = StringSplit(Text({"a b  c", "", "x,y"}), One(" ,"));
  EXPECT_EQ(RunStrings(pieces.values), (Strings{"a", "b", "c", "x", "y"}));
  EXPECT_EQ(RunInts(pieces.indices), (Ints{0, 0, 0, 1, 0, 2, 2, 0, 2, 1}));
  EXPECT_EQ(RunInts(pieces.dense_shape), (Ints{3, 3}));
  EXPECT_EQ(RunStrings(StringSplit(Text({" a"}), One(" "), {.skip_empty = false}).values),
            (Strings{"", "a"}));
  EXPECT_EQ(RunStrings(StringSplit(Text({"ab"}), One("")).values), (Strings{"a", "b"}));
}

TEST_F(StringSplitTest, AtText) {
  const auto split = [&](const char* text, const char* separator, int64_t limit) {
    return RunStrings(StringSplitV2(Text({text}), One(separator), {.maxsplit = limit}).values);
  };
  EXPECT_EQ(split("1<>2<>3", "<>", -1), (Strings{"1", "2", "3"}));
  EXPECT_EQ(split("1<>2<>3", "<>", 1), (Strings{"1", "2<>3"}));
  EXPECT_EQ(split("", ",", -1), Strings{""});
  EXPECT_EQ(split(" a  b ", "", -1), (Strings{"a", "b"}));
  EXPECT_EQ(split(" a  b c", "", 1), (Strings{"a", "b c"}));
  EXPECT_EQ(split("a", "", 1), (Strings{"a", ""}));  // as TensorFlow
  EXPECT_EQ(split(" a b", "", 0), Strings{" a b"});
}

TEST_F(StringSplitTest, RejectsOtherRanks) {
  EXPECT_THROW(StringSplit(One("a"), One(" ")), Error);
  EXPECT_THROW(StringSplitV2(Text({"a"}), Text({" "})), Error);
}

}  // namespace
}  // namespace sextant

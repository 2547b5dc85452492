#include "sextant/ops/string/string_ngrams.h"

#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

class StringNGramsTest : public StringTest {
 protected:
  // Of the rows a b c, nothing, d e.
  NGrams Grams(std::vector<int64_t> widths, int64_t pad_width, bool preserve_short = false) {
    return StringNGrams(Text({"a", "b", "c", "d", "e"}), Const(Tensor::Of<int64_t>({0, 3, 3, 5})),
                        {.separator = "|",
                         .ngram_widths = std::move(widths),
                         .left_pad = "L",
                         .right_pad = "R",
                         .pad_width = pad_width,
                         .preserve_short_sequences = preserve_short});
  }
};

// Answers of TensorFlow.
TEST_F(StringNGramsTest, Pads) {
  NGrams grams = Grams({2}, -1);
  EXPECT_EQ(RunStrings(grams.ngrams),
            (Strings{"L|a", "a|b", "b|c", "c|R", "L|R", "L|d", "d|e", "e|R"}));
  EXPECT_EQ(RunInts(grams.ngrams_splits), (Ints{0, 4, 5, 8}));
  grams = Grams({3, 1}, 1);
  EXPECT_EQ(RunStrings(grams.ngrams),
            (Strings{"L|a|b", "a|b|c", "b|c|R", "a", "b", "c", "L|d|e", "d|e|R", "d", "e"}));
  EXPECT_EQ(RunInts(grams.ngrams_splits), (Ints{0, 6, 6, 10}));
}

TEST_F(StringNGramsTest, ShortRows) {
  EXPECT_EQ(RunStrings(Grams({3}, 0).ngrams), Strings{"a|b|c"});
  EXPECT_EQ(RunStrings(Grams({3}, 0, true).ngrams), (Strings{"a|b|c", "d|e"}));
  EXPECT_EQ(RunStrings(Grams({}, 1, true).ngrams), (Strings{"L|a|b|c|R", "L|d|e|R"}));
}

TEST_F(StringNGramsTest, WithoutDataOrWithoutRows) {
  const auto grams = [](Output data, Ints splits) {
    return StringNGrams(data, Const(Tensor::FromVector(splits)),
                        {.ngram_widths = {2}, .left_pad = "L", .right_pad = "R", .pad_width = 1});
  };
  const Output nothing = Const(Tensor::Zeros(DType::kString, {0}));
  EXPECT_EQ(RunStrings(grams(nothing, {0, 0, 0}).ngrams), Strings{});
  EXPECT_EQ(RunInts(grams(nothing, {0, 0, 0}).ngrams_splits), (Ints{0, 0, 0}));
  EXPECT_EQ(RunStrings(grams(Text({"a", "b"}), {}).ngrams), (Strings{"", ""}));
  EXPECT_EQ(RunInts(grams(Text({"a", "b"}), {}).ngrams_splits), Ints{});
}

TEST_F(StringNGramsTest, RejectsBadArguments) {
  EXPECT_EQ(CodeOf(Grams({0}, 0).ngrams), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Grams({}, -1, true).ngrams), Code::kInvalidArgument);
  EXPECT_EQ(CodeOf(Grams({1 << 30}, -1).ngrams), Code::kResourceExhausted);
  for (const auto& splits : {Ints{1, 2}, Ints{0, 3}, Ints{0, 1}, Ints{0, 2, 1, 2}}) {
    EXPECT_EQ(CodeOf(StringNGrams(Text({"a", "b"}), Const(Tensor::FromVector(splits)),
                                  {.ngram_widths = {1}})
                         .ngrams),
              Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace sextant

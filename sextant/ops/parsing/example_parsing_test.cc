#include "sextant/ops/parsing/example_parsing.h"

#include "sextant/ops/parsing/json_example.h"
#include "sextant/ops/string/string_test.h"

namespace sextant {
namespace {

class ExampleParsingTest : public StringTest {
 protected:
  // age 25, words x and y, vec 1 2 3 4; words only z; nothing.
  Output Examples() {
    return DecodeJSONExample(Text({
        R"({"features":{"feature":{"age":{"int64List":{"value":[25]}},
            "words":{"bytesList":{"value":["eA==","eQ=="]}},
            "vec":{"floatList":{"value":[1,2,3,4]}}}}})",
        R"({"features":{"feature":{"words":{"bytesList":{"value":["eg=="]}}}}})", "{}"}));
  }
  static Output Default(const Tensor& value) { return Const(value); }
  // The message of the error that parsing gives, or "".
  std::string ErrorOf(const FeatureSpecs& specs) {
    try {
      Run(ParseExample(Examples(), specs).dense[0]);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kInvalidArgument);
      return e.message();
    }
    return "";
  }
};

TEST_F(ExampleParsingTest, Dense) {
  const ParsedFeatures parsed = ParseExample(
      Examples(), {.dense = {{"age", Shape(), Default(Tensor(int64_t{-1}))},
                             {"vec", {2, 2}, Default(Tensor::Of<float>({2, 2}, {9, 8, 7, 6}))},
                             {"words", {PartialShape::kUnknown}, Default(Tensor("pad"))}}});
  EXPECT_EQ(RunInts(parsed.dense[0]), (Ints{25, -1, -1}));
  EXPECT_TRUE(Run(parsed.dense[1])
                  .Identical(Tensor::Of<float>({3, 2, 2}, {1, 2, 3, 4, 9, 8, 7, 6, 9, 8, 7, 6})));
  EXPECT_TRUE(
      Run(parsed.dense[2])
          .Identical(Tensor::Of<std::string>({3, 2}, {"x", "y", "z", "pad", "pad", "pad"})));
}

TEST_F(ExampleParsingTest, SparseAndRagged) {
  const ParsedFeatures parsed =
      ParseExample(Examples(), {.sparse = {{"words", DType::kString}, {"none", DType::kFloat}},
                                .ragged = {{"vec", DType::kFloat, DType::kInt32}}});
  EXPECT_EQ(RunInts(parsed.sparse[0].indices), (Ints{0, 0, 0, 1, 1, 0}));
  EXPECT_EQ(RunStrings(parsed.sparse[0].values), (Strings{"x", "y", "z"}));
  EXPECT_EQ(RunInts(parsed.sparse[0].dense_shape), (Ints{3, 2}));
  EXPECT_EQ(RunInts(parsed.sparse[1].dense_shape), (Ints{3, 0}));
  EXPECT_TRUE(Run(parsed.ragged[0].values).Identical(Tensor::Of<float>({1, 2, 3, 4})));
  EXPECT_TRUE(Run(parsed.ragged[0].row_splits).Identical(Tensor::Of<int32_t>({0, 4, 4, 4})));
}

TEST_F(ExampleParsingTest, OneExample) {
  const Output one =
      DecodeJSONExample(One(R"({"features":{"feature":{"n":{"int64List":{"value":[5,6]}}}}})"));
  const FeatureSpecs specs{.sparse = {{"n", DType::kInt64}},
                           .dense = {{"n", {2}, Default(Tensor(DType::kInt64, Shape{0}))}}};
  for (const ParsedFeatures& parsed : {ParseExample(one, specs), ParseSingleExample(one, specs)}) {
    EXPECT_EQ(RunInts(parsed.dense[0]), (Ints{5, 6}));
    EXPECT_TRUE(Run(parsed.sparse[0].indices).Identical(Tensor::Of<int64_t>({2, 1}, {0, 1})));
    EXPECT_EQ(RunInts(parsed.sparse[0].dense_shape), Ints{2});
  }
}

TEST_F(ExampleParsingTest, RejectsBadFeatures) {
  const Output none = Default(Tensor(DType::kInt64, Shape{0}));
  EXPECT_NE(ErrorOf({.dense = {{"age", Shape(), none}}})
                .find("example 1, feature 'age': it is required, but missing"),
            std::string::npos);
  EXPECT_NE(ErrorOf({.dense = {{"words", {1}, none}}})
                .find("example 0, feature 'words': it holds bytes values, expected int64"),
            std::string::npos);
  EXPECT_NE(ErrorOf({.dense = {{"vec", {3}, Default(Tensor::Of<float>({1, 2, 3}))}}})
                .find("it holds 4 values, expected those of shape [3]"),
            std::string::npos);
  EXPECT_NE(ErrorOf({.dense = {{"vec", {-1, 3}, Default(Tensor(1.0f))}}})
                .find("4 values do not make rows of shape [3]"),
            std::string::npos);
}

TEST_F(ExampleParsingTest, RejectsBadSpecs) {
  const auto bad = [&](PartialShape shape, const Tensor& value) {
    return ErrorOf({.dense = {{"a", std::move(shape), Default(value)}}}) != "";
  };
  EXPECT_TRUE(bad({2}, Tensor(1.0f)));
  EXPECT_TRUE(bad({-1}, Tensor::Of<float>({1, 2})));
  EXPECT_TRUE(bad({2, -1}, Tensor(1.0f)));
  EXPECT_TRUE(bad({-1, 0}, Tensor(1.0f)));
  EXPECT_TRUE(bad(PartialShape(), Tensor(1.0f)));
  EXPECT_EQ(
      CodeOf(ParseExample(Text({"\x0f not"}), {.sparse = {{"a", DType::kFloat}}}).sparse[0].values),
      Code::kInvalidArgument);
}

}  // namespace
}  // namespace sextant

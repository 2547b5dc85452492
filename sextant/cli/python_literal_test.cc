#include "sextant/cli/python_literal.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/cli/saved_model_inputs.h"
#include "sextant/formats/npy.h"
#include "sextant/proto/example.pb.h"

namespace sextant::cli {
namespace {

Tensor Array(std::string_view text) { return ArrayOf(ParsePythonLiteral(text)); }

std::string ParseErrorOf(std::string_view text) {
  try {
    Array(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    return e.message();
  }
  return "";
}

TEST(PythonLiteralTest, ReadsNumbersAndStrings) {
  EXPECT_TRUE(Array("-12").Identical(Tensor(int64_t{-12})));
  EXPECT_TRUE(Array("0x1F").Identical(Tensor(int64_t{31})));
  EXPECT_TRUE(Array("1_000").Identical(Tensor(int64_t{1000})));
  EXPECT_TRUE(Array("1.5e-3").Identical(Tensor(1.5e-3)));
  EXPECT_TRUE(Array("-.5").Identical(Tensor(-0.5)));
  EXPECT_TRUE(Array("-np.inf").Identical(Tensor(-std::numeric_limits<double>::infinity())));
  EXPECT_TRUE(Array("True").Identical(Tensor(true)));
  EXPECT_TRUE(Array(R"('a' "b;\u00e9")").Identical(Tensor("ab;\xc3\xa9")));
  EXPECT_TRUE(Array(R"('it\'s \x41\n')").Identical(Tensor("it's A\n")));
  EXPECT_TRUE(Array("b'abc'").Identical(Tensor("abc")));
}

TEST(PythonLiteralTest, ReadsNestedLists) {
  EXPECT_TRUE(Array("[[1, 2], (3, 4),]").Identical(Tensor::Of<int64_t>(Shape{2, 2}, {1, 2, 3, 4})));
  EXPECT_TRUE(Array("[1, 2.5]").Identical(Tensor::Of<double>({1, 2.5})));
  EXPECT_TRUE(Array("['a', 'b']").Identical(Tensor::Of<std::string>({"a", "b"})));
  EXPECT_TRUE(Array("(3)").Identical(Tensor(int64_t{3})));
  EXPECT_EQ(Array("(3,)").shape(), Shape{1});
  EXPECT_EQ(Array("[]").shape(), Shape{0});
}

TEST(PythonLiteralTest, MakesArraysAsNumPyDoes) {
  EXPECT_TRUE(Array("np.zeros((2, 1))").Identical(Tensor::Zeros(DType::kDouble, Shape{2, 1})));
  EXPECT_TRUE(Array("np.ones(2, np.int32)").Identical(Tensor::Of<int32_t>({1, 1})));
  EXPECT_TRUE(Array("np.full([2], 'x')").Identical(Tensor::Of<std::string>({"x", "x"})));
  EXPECT_TRUE(Array("np.full(2, 0.5, dtype='float32')").Identical(Tensor::Of<float>({0.5, 0.5})));
  EXPECT_TRUE(Array("np.arange(3)").Identical(Tensor::Of<int64_t>({0, 1, 2})));
  EXPECT_TRUE(Array("np.arange(1, 2, 0.5)").Identical(Tensor::Of<double>({1, 1.5})));
  EXPECT_TRUE(Array("np.arange(4, dtype=np.float32).reshape(-1, 2)")
                  .Identical(Tensor::Of<float>(Shape{2, 2}, {0, 1, 2, 3})));
  EXPECT_TRUE(Array("np.array([1, 0]).astype(bool)").Identical(Tensor::Of<bool>({true, false})));
  EXPECT_TRUE(
      Array("[np.zeros(2), [1, 2]]").Identical(Tensor::Of<double>(Shape{2, 2}, {0, 0, 1, 2})));
}

TEST(PythonLiteralTest, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(ParseErrorOf("[1, 2"), "expected ',' or ']' at character 6 of '[1, 2'");
  EXPECT_EQ(ParseErrorOf("'abc"), "expected the end of the string at character 5 of ''abc'");
  EXPECT_EQ(ParseErrorOf("1 2"), "expected the end at character 3 of '1 2'");
  EXPECT_EQ(ParseErrorOf("[[1], [1, 2]]"), "a list has items of the shapes [1] and [2]");
  EXPECT_EQ(ParseErrorOf("[1, 'a']"), "a list has items of int64 and string");
  EXPECT_EQ(ParseErrorOf("np.eye(3)"),
            "the function np.eye is not known; there are np.zeros, ones, full, arange and array");
  EXPECT_EQ(ParseErrorOf("np.zeros(2, shap=3)"), "np.zeros has no argument 'shap'");
  EXPECT_EQ(ParseErrorOf("np.zeros(-1)"), "np.zeros: the shape has a size of -1");
  EXPECT_EQ(ParseErrorOf("np.arange(0, 1, 0)"), "np.arange from 0 to 1 by 0 has no end");
  EXPECT_NE(ParseErrorOf("__import__('os')"), "");
  EXPECT_NE(ParseErrorOf(std::string(100000, '[')), "");
}

TEST(PythonLiteralTest, ConvertsWithoutLoss) {
  EXPECT_TRUE(Converted(Array("[1, 2]"), DType::kFloat).Identical(Tensor::Of<float>({1, 2})));
  EXPECT_TRUE(Converted(Array("[2.0]"), DType::kInt32).Identical(Tensor::Of<int32_t>({2})));
  EXPECT_THROW(Converted(Array("[2.5]"), DType::kInt32), Error);
  EXPECT_THROW(Converted(Array("300"), DType::kUInt8), Error);
  EXPECT_THROW(Converted(Array("'a'"), DType::kFloat), Error);
}

TEST(SavedModelInputsTest, ReadsFilesExpressionsAndExamples) {
  const std::string path = JoinPath(testing::TempDir(), "inputs_test.npy");
  WriteNpy(path, Tensor::Of<float>({1, 2}));
  const auto inputs = ReadInputs({.files = "a=" + path + "; b=" + path + "[ignored]",
                                  .expressions = "b=[3];c='x;y'",
                                  .examples = "e=[{'n': [1, 2], 'f': [0.5], 's': ['t']}]"});
  EXPECT_TRUE(inputs.at("a").Identical(Tensor::Of<float>({1, 2})));
  EXPECT_TRUE(inputs.at("b").Identical(Tensor::Of<int64_t>({3})));
  EXPECT_TRUE(inputs.at("c").Identical(Tensor("x;y")));
  proto::Example example;
  ASSERT_TRUE(example.ParseFromString(inputs.at("e").data<std::string>()[0]));
  EXPECT_EQ(example.features().feature().at("n").int64_list().value(1), 2);
  EXPECT_EQ(example.features().feature().at("f").float_list().value(0), 0.5f);
  EXPECT_EQ(example.features().feature().at("s").bytes_list().value(0), "t");
}

TEST(SavedModelInputsTest, NamesOptionAndKeyInErrors) {
  const auto message = [](const InputTexts& texts) {
    try {
      ReadInputs(texts);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string();
  };
  EXPECT_EQ(message({.expressions = "abc"}), "--input_exprs 'abc' has to read KEY=VALUE");
  EXPECT_EQ(message({.expressions = "x=[1"}),
            "--input_exprs x: expected ',' or ']' at character 3 of '[1'");
  EXPECT_EQ(message({.examples = "e=[{'n': 1}]"}),
            "--input_examples e: the feature 'n' is an integer, not a list");
  EXPECT_EQ(message({.examples = "e={'n': [1]}"}),
            "--input_examples e: expected a list of dictionaries, not a dictionary");
}

}  // namespace
}  // namespace sextant::cli

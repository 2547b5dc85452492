#include "sextant/formats/json_tensor.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>

#include "sextant/base/error.h"

namespace sextant {
namespace {

std::string Text(const Tensor& tensor, const JsonStyle& style = {}) {
  std::string text;
  AppendJson(tensor, style, &text);
  return text;
}

TEST(JsonTensor, WritesNumbersSoThatTheyReadBack) {
  EXPECT_EQ(Text(Tensor(1.0f)), "1.0");
  EXPECT_EQ(Text(Tensor(0.1f)), "0.1");
  EXPECT_EQ(Text(Tensor(16777216.0f)), "16777216.0");
  EXPECT_EQ(Text(Tensor(1e-7)), "1e-07");
  EXPECT_EQ(Text(Tensor(0.1 + 0.2)), "0.30000000000000004");
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(Text(Tensor::Of<float>({NAN, infinity, -infinity})), "[NaN, Infinity, -Infinity]");
  EXPECT_EQ(Text(Tensor::Of<float>({NAN}), {.quote_non_finite = true}), "[\"NaN\"]");
  EXPECT_EQ(Text(Tensor(int64_t{-9223372036854775807} - 1)), "-9223372036854775808");
  EXPECT_EQ(Text(Tensor::Scalar<uint64_t>(18446744073709551615u)), "18446744073709551615");
  EXPECT_EQ(Text(Tensor::Of<bool>({true, false})), "[true, false]");
}

TEST(JsonTensor, WritesShapesAndRows) {
  const Tensor matrix = Tensor::Of<int32_t>({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Text(matrix), "[[1, 2, 3], [4, 5, 6]]");
  std::string row;
  AppendJsonRow(matrix, 1, {}, &row);
  EXPECT_EQ(row, "[4, 5, 6]");
  EXPECT_EQ(Text(Tensor(DType::kFloat, Shape{2, 0})), "[[], []]");
}

TEST(JsonTensor, WritesStringsAndBytes) {
  EXPECT_EQ(Text(Tensor("a\"b\\\n\x01é")), "\"a\\\"b\\\\\\n\\u0001é\"");
  EXPECT_EQ(Text(Tensor("hi?"), {.base64 = true}), "{\"b64\": \"aGk/\"}");
  // No UTF-8: as bytes, so that nothing is lost.
  EXPECT_EQ(Text(Tensor("\xff\xfe")), "{\"b64\": \"//4=\"}");
}

TEST(JsonTensor, BuildsNestedLists) {
  JsonTensorBuilder builder(DType::kFloat);
  for (int row = 0; row < 2; ++row) {
    builder.StartList();
    builder.Integer(row);
    builder.Real(0.5);
    builder.EndList();
    EXPECT_TRUE(builder.between_values());
  }
  EXPECT_TRUE(builder.TakeRows(PartialShape({-1, 2}))
                  .Identical(Tensor::Of<float>({2, 2}, {0, 0.5f, 1, 0.5f})));
}

TEST(JsonTensor, ASingleNumberStandsForARowOfOne) {
  JsonTensorBuilder builder(DType::kInt64);
  builder.Integer(7);
  builder.Integer(8);
  EXPECT_EQ(builder.TakeRows(PartialShape({-1, 1})).shape(), Shape({2, 1}));
}

TEST(JsonTensor, GrowsWithoutLosingElements) {
  JsonTensorBuilder builder(DType::kInt32);
  builder.StartList();
  for (int i = 0; i < 5000; ++i) builder.Integer(i);
  builder.EndList();
  const Tensor tensor = builder.TakeValue();
  ASSERT_EQ(tensor.shape(), Shape({5000}));
  for (int i = 0; i < 5000; ++i) ASSERT_EQ(tensor.data<int32_t>()[i], i);
}

TEST(JsonTensor, RefusesWhatDoesNotFit) {
  const auto message = [](DType dtype, const auto& feed) {
    JsonTensorBuilder builder(dtype);
    try {
      feed(builder);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kInvalidArgument);
      return error.message();
    }
    return std::string("no error");
  };
  EXPECT_EQ(message(DType::kInt8, [](auto& b) { b.Integer(128); }),
            "128 is out of the range of int8");
  EXPECT_EQ(message(DType::kInt32, [](auto& b) { b.Real(1.5); }), "1.5 is no int32");
  EXPECT_EQ(message(DType::kInt64, [](auto& b) { b.Real(NAN); }), "nan is no int64");
  EXPECT_EQ(message(DType::kInt64, [](auto& b) { b.Real(1e20); }),
            "1e+20 is out of the range of int64");
  EXPECT_EQ(message(DType::kUInt8, [](auto& b) { b.Integer(-1); }),
            "-1 is out of the range of uint8");
  EXPECT_EQ(message(DType::kFloat, [](auto& b) { b.String("x"); }), "the text \"x\" is no float");
  EXPECT_EQ(message(DType::kFloat, [](auto& b) { b.Bool(true); }), "true is no float");
  EXPECT_EQ(message(DType::kString, [](auto& b) { b.Integer(3); }), "3 is no string");
  EXPECT_NE(message(DType::kString, [](auto& b) { b.Base64("a*"); }), "no error");
  EXPECT_EQ(message(DType::kFloat,
                    [](auto& b) {
                      b.StartList(), b.Integer(1), b.EndList();
                      b.StartList(), b.Integer(1), b.Integer(2), b.EndList();
                    }),
            "the lists are ragged: dimension 0 has 2 elements, others have 1");
  EXPECT_EQ(message(DType::kFloat,
                    [](auto& b) {
                      b.StartList(), b.Integer(1), b.EndList();
                      b.Integer(1);
                    }),
            "the lists are ragged: an element 0 deep, where others are 1 deep");
}

// The text of a float is that of std::to_chars, with a point, also where it is written by other
// means: of few digits, at the ends of the ranges, and of random bits.
TEST(JsonTensor, FloatsHaveTheShortestText) {
  std::vector<float> values = {0.1f, 0.001f, 0.00099999f, 1e5f, 99999.99f, 9.999999f, 0.5f, 100.0f};
  std::mt19937 random(3);
  for (int i = 0; i < 20000; ++i) {
    const auto bits = static_cast<uint32_t>(random());
    values.push_back(std::bit_cast<float>(bits));
    values.push_back(static_cast<float>(bits % 100000) / static_cast<float>(1 << (bits >> 28)));
    values.push_back(static_cast<float>(bits % 10000000) * 1e-6f);
    values.push_back(static_cast<float>(bits % 100000) / 1000.0f);
  }
  for (const float value : values) {
    if (!std::isfinite(value)) continue;
    char digits[40];
    std::string expected(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
    if (expected.find_first_of(".e") == std::string::npos) expected += ".0";
    std::string text;
    AppendJsonNumber(value, &text);
    ASSERT_EQ(text, expected);
    text.clear();
    AppendJsonNumber(-value, &text);
    ASSERT_EQ(text, value < 0 ? expected.substr(1) : "-" + expected);
  }
}

TEST(JsonTensor, LongListsAreWrittenWhole) {
  Tensor tensor(DType::kInt32, Shape{2, 1000});
  std::string expected = "[";
  for (int i = 0; i < 2000; ++i) {
    tensor.data<int32_t>()[i] = i * i - 5;
    expected += i == 0 ? "[" : i == 1000 ? "], [" : ", ";
    expected += std::to_string(i * i - 5);
  }
  std::string text;
  AppendJson(tensor, {}, &text);
  EXPECT_EQ(text, expected + "]]");
}

TEST(JsonTensor, IntegersMayBeWrittenAsReals) {
  JsonTensorBuilder builder(DType::kInt64);
  builder.Real(3.0);
  EXPECT_EQ(builder.TakeValue().scalar<int64_t>(), 3);
  JsonTensorBuilder large(DType::kUInt64);
  large.Unsigned(18446744073709551615u);
  EXPECT_EQ(large.TakeValue().scalar<uint64_t>(), 18446744073709551615u);
}

}  // namespace
}  // namespace sextant

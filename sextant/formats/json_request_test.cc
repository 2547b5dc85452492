#include "sextant/formats/json_request.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/base/error.h"
#include "sextant/formats/example_builder.h"
#include "sextant/formats/json_tensor.h"
#include "sextant/proto/example.pb.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

const std::vector<JsonInput> kOne = {{"x", DType::kFloat, PartialShape({-1})}};
const std::vector<JsonInput> kTwo = {{"n", DType::kInt64, PartialShape({-1})},
                                     {"s", DType::kString, PartialShape({-1, 2})}};

// Signature "two" has two inputs, every other one has one.
std::span<const JsonInput> Find(std::string_view name) {
  if (name == "two") return kTwo;
  if (name == "none") throw FailedPrecondition("no such signature");
  return kOne;
}
JsonRequest Read(const std::string& body) { return ReadJsonRequest(body, Find); }
std::string ErrorOf(const std::string& body) {
  return StatusOf([&] { Read(body); }).message();
}
void ExpectError(const std::string& body, const std::string& part) {
  EXPECT_NE(ErrorOf(body).find(part), std::string::npos) << body << "\n" << ErrorOf(body);
}

TEST(JsonInstances, ReadsTextsOneByOne) {
  const std::vector<JsonInput> inputs = {{"n", DType::kInt64, PartialShape({-1, 1})},
                                         {"o", DType::kFloat, PartialShape({-1}), true},
                                         {"s", DType::kString, PartialShape({-1})}};
  const auto fill = [](size_t input, JsonTensorBuilder& builder) {
    if (input == 0) builder.Integer(7);
    return input == 0;
  };
  JsonInstances instances(inputs, fill);
  instances.Add(R"({"s": "a", "n": 1})");
  instances.Add(R"({"s": {"b64": "Yg=="}, "n": null, "o": null})");
  EXPECT_EQ(instances.num_instances(), 2);
  const std::vector<Tensor> tensors = instances.Take();
  EXPECT_TRUE(tensors[0].Identical(Tensor::Of<int64_t>({2, 1}, {1, 7})));
  EXPECT_FALSE(tensors[1].valid());
  EXPECT_TRUE(tensors[2].Identical(Tensor::Of<std::string>({"a", "b"})));

  const auto error = [&](const std::vector<std::string>& texts) {
    JsonInstances some(inputs, fill);
    try {
      for (const std::string& text : texts) some.Add(text);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string("no error");
  };
  EXPECT_EQ(error({R"({"n": 1})"}),
            "byte 7: the instance has no value for input 's'; the signature takes: n, o, s");
  EXPECT_EQ(error({R"({"s": "a", "n": 1})", R"({"s": "b", "o": 1})"}),
            "byte 17: the instance: input 'o' has a value in some instances, but not in all");
  EXPECT_EQ(error({R"({"s": null})"}),
            "byte 10: the instance has no value for input 's'; the signature takes: n, o, s");
  EXPECT_EQ(error({R"({"s": [null]})"}), "byte 11: input 's': null is no string");
  EXPECT_EQ(error({R"({"x": 1})"}),
            "byte 4: the instance: the signature has no input 'x'; it takes: n, o, s");
}

TEST(JsonRequest, ReadsRowsOfOneInput) {
  const JsonRequest request = Read(R"({"instances": [1.0, 2, 5e0]})");
  EXPECT_EQ(request.form, JsonRequest::Form::kRows);
  EXPECT_TRUE(request.inputs[0].Identical(Tensor::Of<float>({1, 2, 5})));
  EXPECT_TRUE(Read(R"({"instances": [{"x": 1.0}, {"x": 2}]})")
                  .inputs[0]
                  .Identical(Tensor::Of<float>({1, 2})));
  EXPECT_EQ(Read(R"({"instances": [[[1, 2, 3]], [[4, 5, 6]]]})").inputs[0].shape(),
            Shape({2, 1, 3}));
  const Tensor special = Read(R"({"instances": [NaN, Infinity, -Infinity, -Inf]})").inputs[0];
  EXPECT_TRUE(std::isnan(special.data<float>()[0]));
  EXPECT_EQ(special.data<float>()[2], -INFINITY);
}

TEST(JsonRequest, ReadsRowsAndColumnsByName) {
  const std::string rows = R"({"signature_name": "two", "instances": [
      {"n": 1, "s": ["a", {"b64": "YmM="}]}, {"s": ["d", "e"], "n": 2}]})";
  const Tensor texts = Tensor::Of<std::string>({2, 2}, {"a", "bc", "d", "e"});
  const JsonRequest request = Read(rows);
  EXPECT_EQ(request.signature_name, "two");
  EXPECT_TRUE(request.inputs[0].Identical(Tensor::Of<int64_t>({1, 2})));
  EXPECT_TRUE(request.inputs[1].Identical(texts));
  const JsonRequest columns = Read(
      R"({"signature_name": "two", "other": {"a": [1, {}]},
          "inputs": {"n": [1, 2], "more": [1, [2]], "s": [["a", {"b64": "YmM="}], ["d", "e"]]}})");
  EXPECT_EQ(columns.form, JsonRequest::Form::kColumns);
  EXPECT_TRUE(columns.inputs[0].Identical(Tensor::Of<int64_t>({1, 2})));
  EXPECT_TRUE(columns.inputs[1].Identical(texts));
}

TEST(JsonRequest, ColumnsKeepTheirShape) {
  EXPECT_EQ(Read(R"({"inputs": 3.5})").inputs[0].shape(), Shape({}));
  EXPECT_EQ(Read(R"({"inputs": {"x": [[1, 2]]}})").inputs[0].shape(), Shape({1, 2}));
  EXPECT_EQ(Read(R"({"inputs": []})").inputs[0].shape(), Shape({0}));
}

TEST(JsonRequest, TheSignatureMayBeNamedLate) {
  EXPECT_TRUE(Read(R"({"instances": [{"n": 4, "s": ["", ""]}], "signature_name": "two"})")
                  .inputs[0]
                  .Identical(Tensor::Of<int64_t>({4})));
  // It fits the default one too, but another is meant.
  EXPECT_EQ(Read(R"({"instances": [1.5], "signature_name": "other"})").signature_name, "other");
  ExpectError(R"({"instances": [1.5], "signature_name": "none"})", "no such signature");
}

TEST(JsonRequest, BytesStandForAStringInput) {
  const std::vector<JsonInput> text = {{"t", DType::kString, PartialShape({-1})}};
  const auto find = [&](std::string_view) { return std::span<const JsonInput>(text); };
  const auto read = [&](const std::string& body) { return ReadJsonRequest(body, find).inputs[0]; };
  const Tensor expected = Tensor::Of<std::string>({"bc", "d"});
  EXPECT_TRUE(read(R"({"instances": [{"b64": "YmM="}, "d"]})").Identical(expected));
  EXPECT_TRUE(read(R"({"instances": [{"t": {"b64": "YmM"}}, {"t": "d"}]})").Identical(expected));
  EXPECT_TRUE(read(R"({"inputs": [{"b64": "YmM="}, "d"]})").Identical(expected));
  EXPECT_TRUE(read(R"({"inputs": {"b64": "YmM="}})").Identical(Tensor("bc")));
}

TEST(JsonRequest, OptionalInputsAreLeftOutOfAllRows) {
  const std::vector<JsonInput> inputs = {{"a", DType::kFloat, PartialShape({-1})},
                                         {"b", DType::kFloat, PartialShape({-1}), true}};
  const auto find = [&](std::string_view) { return std::span<const JsonInput>(inputs); };
  EXPECT_FALSE(ReadJsonRequest(R"({"instances": [{"a": 1}]})", find).inputs[1].valid());
  EXPECT_THROW(ReadJsonRequest(R"({"instances": [{"a": 1, "b": 2}, {"a": 1}]})", find), Error);
  EXPECT_THROW(ReadJsonRequest(R"({"instances": [{"b": 2}]})", find), Error);
}

TEST(JsonRequest, SaysWhatIsWrongAndWhere) {
  ExpectError("", "no JSON");
  ExpectError("[1]", "the request is a list");
  ExpectError("{}", "neither \"instances\" nor \"inputs\"");
  ExpectError(R"({"instances": 3})", "\"instances\" is");
  ExpectError(R"({"instances": []})", "\"instances\" is empty");
  ExpectError(R"({"instances": [1], "inputs": [1]})", "not both");
  ExpectError(R"({"instances": [1], "instances": [1]})", "once");
  ExpectError(R"({"instances": [1, "a"]})", "instances[1], input 'x': the text \"a\" is no float");
  ExpectError(R"({"instances": [1, [2]]})", "instances[1], input 'x': the lists are ragged");
  ExpectError(R"({"instances": [1, null]})", "null");
  ExpectError(R"({"instances": [1, {"x": 2}]})", "some instances are objects, others are not");
  ExpectError(R"({"instances": [{"y": 2}]})", "the signature has no input 'y'; it takes: x");
  ExpectError(R"({"instances": [{"x": 2, "x": 3}]})", "input 'x' is there twice");
  ExpectError(R"({"instances": [{}]})", "instances[0] has no value for input 'x'");
  ExpectError(R"({"signature_name": "two", "instances": [{"n": 1}]})", "no value for input 's'");
  ExpectError(R"({"signature_name": "two", "instances": [1]})", "has 2 inputs");
  ExpectError(R"({"signature_name": "two", "inputs": {"n": [1]}})", "no value for 's'");
  ExpectError(R"({"signature_name": 3, "instances": [1]})", "\"signature_name\" is");
  ExpectError(R"({"instances": [1]} x)", "byte 19");
  ExpectError(std::string("{\"instances\": [1]}\0{}", 20), "zero byte");
  ExpectError(R"({"instances": [1e999]})", "no JSON");
  ExpectError(R"({"instances": [12345678901234567890123)", "no JSON");
  ExpectError(
      R"({"signature_name": "two", "inputs": {"n": 99999999999999999999, "s": [["", ""]]}})",
      "out of the range of int64");
  ExpectError(R"({"signature_name": "two", "inputs": {"n": NaN, "s": [["", ""]]}})", "is no int64");
  ExpectError("{\"instances\": [\"\\ud800\"]}", "no JSON");
}

TEST(JsonRequest, NestingIsBoundedWithoutRecursion) {
  ExpectError("{\"instances\": " + std::string(1000000, '['), "nested more than 32 deep");
  ExpectError("{\"skipped\": " + std::string(1000000, '['), "nested more than 32 deep");
  std::string objects = "{\"a\": ";
  for (int i = 0; i < 100000; ++i) objects += "{\"a\": ";
  ExpectError(objects, "nested more than 32 deep");
  std::string deep = "1";
  for (int i = 0; i < 30; ++i) deep = "[" + deep + "]";
  EXPECT_EQ(Read("{\"inputs\": " + deep + "}").inputs[0].rank(), 30);
}

TEST(JsonExamples, HaveTheKindsOfTheirValues) {
  const JsonExamples read = ReadJsonExamples(R"({"signature_name": "s", "context": {"c": 1},
      "examples": [{"i": [1, true], "f": 1.0, "t": ["a", {"b64": "YmM="}], "none": []}, {}]})");
  EXPECT_EQ(read.signature_name, "s");
  ASSERT_EQ(read.examples.size(), 2u);
  proto::Example first, second;
  ASSERT_TRUE(first.ParseFromString(read.examples[0]));
  ASSERT_TRUE(second.ParseFromString(read.examples[1]));
  const auto& features = first.features().feature();
  EXPECT_EQ(features.at("c").int64_list().value(0), 1);
  EXPECT_EQ(features.at("i").int64_list().value(1), 1);
  EXPECT_EQ(features.at("f").float_list().value(0), 1.0f);
  EXPECT_EQ(features.at("t").bytes_list().value(1), "bc");
  EXPECT_FALSE(features.contains("none"));
  EXPECT_EQ(second.features().feature().size(), 1u);
}

TEST(JsonExamples, RefusesWhatAnExampleCannotHold) {
  const auto error = [](const std::string& body) {
    try {
      ReadJsonExamples(body);
    } catch (const Error& e) {
      return e.message();
    }
    return std::string("no error");
  };
  const auto expect = [&](const std::string& body, const std::string& part) {
    EXPECT_NE(error(body).find(part), std::string::npos) << error(body);
  };
  expect("{}", "no \"examples\"");
  expect(R"({"examples": []})", "empty");
  expect(R"({"examples": [{"a": [1, 2.5]}]})", "examples[0], feature 'a': integers, reals");
  expect(R"({"examples": [{"a": [1, "b"]}]})", "mixed");
  expect(R"({"examples": [{"a": [[1]]}]})", "a list is not expected");
  expect(R"({"examples": [{"a": null}]})", "null");
  expect(R"({"examples": [{"a": 18446744073709551615}]})", "out of the range of int64");
  expect(R"({"examples": [{"a": {"x": 1}}]})", "an object other than");
  expect(R"({"examples": [1]})", "not expected");
}

}  // namespace
}  // namespace sextant

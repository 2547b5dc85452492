// libFuzzer target: bytes are read as an Example and a SequenceExample by the wire reader, as an
// Example by the parser of datasets, and by protobuf. A finding is a memory error, or an answer
// that differs from protobuf's.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/data/parse_examples.h"
#include "sextant/formats/example_wire.h"
#include "sextant/proto/example.pb.h"

namespace sextant::fuzz {
namespace {

[[noreturn]] void Report(std::string_view what, std::string_view key) {
  fmt::print(stderr, "finding: {} (feature '{}')\n", what, key);
  std::abort();
}

// Protobuf refuses keys that are not UTF-8, also those that another one replaces.
bool MayHaveBadKeys(std::string_view bytes) {
  return std::ranges::any_of(bytes, [](char c) { return static_cast<uint8_t>(c) >= 0x80; });
}

template <typename T, typename List>
void CompareValues(std::string_view key, std::string_view list, int64_t count,
                   const List& expected) {
  if (count != expected.size()) Report("another number of values", key);
  std::vector<T> values(static_cast<size_t>(count));
  ReadValues(list, std::span<T>(values));
  for (int i = 0; i < expected.size(); ++i) {
    const T value = expected[i];
    if (!(values[i] == value) && value == value) Report("another value", key);
  }
}

void Compare(std::string_view key, const WireFeature& feature, const proto::Feature& expected) {
  if (static_cast<int>(feature.kind) != static_cast<int>(expected.kind_case()))
    Report("another kind", key);
  const int64_t count = CountValues(feature);
  if (count < 0) Report("a list that protobuf accepts is refused", key);
  if (feature.kind == FeatureKind::kBytes) {
    CompareValues<std::string>(key, feature.list, count, expected.bytes_list().value());
  } else if (feature.kind == FeatureKind::kFloat) {
    CompareValues<float>(key, feature.list, count, expected.float_list().value());
  } else if (feature.kind == FeatureKind::kInt64) {
    CompareValues<int64_t>(key, feature.list, count, expected.int64_list().value());
  }
}

// What the reader hands out, the last of each key. Lists that are not well-formed make it not ok.
struct Read {
  bool ok = true;
  std::map<std::string, WireFeature> features;
  std::map<std::string, std::vector<WireFeature>> lists;

  void Add(std::string_view key, const WireFeature& feature) {
    ok = ok && CountValues(feature) >= 0;
    features[std::string(key)] = feature;
  }
  void AddList(std::string_view key, std::string_view list, JoinedBytes& joined) {
    std::vector<WireFeature>& rows = lists[std::string(key)];
    rows.clear();
    ok = ReadFeatureList(list, joined,
                         [&](const WireFeature& feature) {
                           ok = ok && CountValues(feature) >= 0;
                           rows.push_back(feature);
                         }) &&
         ok;
  }
};

void CompareFeatures(const Read& read,
                     const google::protobuf::Map<std::string, proto::Feature>& expected) {
  if (read.features.size() != expected.size()) Report("another number of features", "");
  for (const auto& [key, feature] : read.features) {
    if (!expected.contains(key)) Report("a feature that protobuf does not find", key);
    Compare(key, feature, expected.at(key));
  }
}

void CheckExample(std::string_view bytes) {
  JoinedBytes joined;
  Read read;
  read.ok = ReadExample(bytes, joined,
                        [&](std::string_view key, const WireFeature& f) { read.Add(key, f); }) &&
            read.ok;
  proto::Example example;
  const bool parsed = example.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (parsed && !read.ok) Report("an Example that protobuf accepts is refused", "");
  if (!parsed && read.ok && !MayHaveBadKeys(bytes))
    Report("an Example that protobuf refuses is accepted", "");
  if (parsed) CompareFeatures(read, example.features().feature());
}

void CheckSequenceExample(std::string_view bytes) {
  JoinedBytes joined;
  Read read;
  read.ok =
      ReadSequenceExample(
          bytes, joined, [&](std::string_view key, const WireFeature& f) { read.Add(key, f); },
          [&](std::string_view key, std::string_view list) { read.AddList(key, list, joined); }) &&
      read.ok;
  proto::SequenceExample example;
  const bool parsed = example.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  if (parsed && !read.ok) Report("a SequenceExample that protobuf accepts is refused", "");
  if (!parsed && read.ok && !MayHaveBadKeys(bytes))
    Report("a SequenceExample that protobuf refuses is accepted", "");
  if (!parsed) return;
  CompareFeatures(read, example.context().feature());
  const auto& expected = example.feature_lists().feature_list();
  if (read.lists.size() != expected.size()) Report("another number of lists", "");
  for (const auto& [key, rows] : read.lists) {
    if (!expected.contains(key)) Report("a list that protobuf does not find", key);
    const auto& features = expected.at(key).feature();
    if (static_cast<int>(rows.size()) != features.size()) Report("another number of rows", key);
    for (int i = 0; i < features.size(); ++i) Compare(key, rows[i], features[i]);
  }
}

const data::ExampleParser& Parser() {
  static const data::ExampleParser parser(
      {{.name = "f", .dtype = DType::kFloat, .shape = {-1}, .default_value = Tensor(0.0f)},
       {.name = "i", .dtype = DType::kInt64, .shape = {-1}, .default_value = Tensor(int64_t{0})},
       {.name = "s", .dtype = DType::kString, .shape = {-1}, .default_value = Tensor("")}});
  return parser;
}

template <typename T, typename List>
void CompareTensor(std::string_view key, const Tensor& tensor, const List& expected) {
  if (tensor.num_elements() != expected.size()) Report("a tensor of another size", key);
  for (int i = 0; i < expected.size(); ++i) {
    const T value = expected[i];
    if (!(tensor.data<T>()[i] == value) && value == value) Report("another value in a tensor", key);
  }
}

// Features of another kind than the parser's are refused; else the tensors have protobuf's values.
void CheckParser(std::string_view bytes) {
  proto::Example example;
  const bool parsed = example.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  data::Element element;
  try {
    Parser().Parse(Tensor(std::string(bytes)), &element);
  } catch (const Error& e) {
    if (e.code() != Code::kInvalidArgument) Report(e.what(), "");
    return;
  }
  if (!parsed) return;
  auto& features = *example.mutable_features()->mutable_feature();
  CompareTensor<float>("f", element["f"], features["f"].float_list().value());
  CompareTensor<int64_t>("i", element["i"], features["i"].int64_list().value());
  CompareTensor<std::string>("s", element["s"], features["s"].bytes_list().value());
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  sextant::fuzz::CheckExample(bytes);
  sextant::fuzz::CheckSequenceExample(bytes);
  sextant::fuzz::CheckParser(bytes);
  return 0;
}

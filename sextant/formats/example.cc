#include "sextant/formats/example.h"

#include <limits>

#include "sextant/base/error.h"

namespace sextant {
namespace {

using proto::Example;
using proto::Feature;
using proto::SequenceExample;

std::string_view KindName(Feature::KindCase kind) {
  switch (kind) {
    case Feature::kBytesList:
      return "bytes";
    case Feature::kFloatList:
      return "float";
    case Feature::kInt64List:
      return "int64";
    case Feature::KIND_NOT_SET:
      break;
  }
  return "nothing";
}

const Feature& GetFeature(const Example& example, std::string_view key, Feature::KindCase kind) {
  const Feature* feature = FindFeature(example, key);
  if (feature == nullptr) throw NotFound("the example has no feature '{}'", key);
  if (feature->kind_case() != kind) {
    throw InvalidArgument("feature '{}' holds {} values, expected {}", key,
                          KindName(feature->kind_case()), KindName(kind));
  }
  return *feature;
}

template <typename Message>
Message Parse(std::string_view bytes, std::string_view name) {
  Message message;
  if (bytes.size() > std::numeric_limits<int>::max() ||
      !message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw DataLoss("{} bytes that are not a tf.train.{}", bytes.size(), name);
  }
  return message;
}

template <typename Values>
auto One(const Values& values, std::string_view key) {
  if (values.size() != 1) {
    throw InvalidArgument("feature '{}' holds {} values, expected 1", key, values.size());
  }
  return values[0];
}

}  // namespace

Example ParseExample(std::string_view bytes) { return Parse<Example>(bytes, "Example"); }

SequenceExample ParseSequenceExample(std::string_view bytes) {
  return Parse<SequenceExample>(bytes, "SequenceExample");
}

const Feature* FindFeature(const proto::Features& features, std::string_view key) {
  const auto it = features.feature().find(std::string(key));
  const bool found =
      it != features.feature().end() && it->second.kind_case() != Feature::KIND_NOT_SET;
  return found ? &it->second : nullptr;
}

const Feature* FindFeature(const Example& example, std::string_view key) {
  return FindFeature(example.features(), key);
}

const proto::FeatureList* FindFeatureList(const SequenceExample& example, std::string_view key) {
  const auto& lists = example.feature_lists().feature_list();
  const auto it = lists.find(std::string(key));
  return it == lists.end() ? nullptr : &it->second;
}

bool HasFeature(const Example& example, std::string_view key) {
  return FindFeature(example, key) != nullptr;
}

std::vector<std::string_view> GetBytes(const Example& example, std::string_view key) {
  const auto& values = GetFeature(example, key, Feature::kBytesList).bytes_list().value();
  return {values.begin(), values.end()};
}

std::span<const int64_t> GetInt64s(const Example& example, std::string_view key) {
  const auto& values = GetFeature(example, key, Feature::kInt64List).int64_list().value();
  return {values.data(), static_cast<size_t>(values.size())};
}

std::span<const float> GetFloats(const Example& example, std::string_view key) {
  const auto& values = GetFeature(example, key, Feature::kFloatList).float_list().value();
  return {values.data(), static_cast<size_t>(values.size())};
}

std::string_view GetOneBytes(const Example& example, std::string_view key) {
  return One(GetBytes(example, key), key);
}

int64_t GetOneInt64(const Example& example, std::string_view key) {
  return One(GetInt64s(example, key), key);
}

float GetOneFloat(const Example& example, std::string_view key) {
  return One(GetFloats(example, key), key);
}

}  // namespace sextant

#include "sextant/formats/example_builder.h"

#include <bit>
#include <cstring>

#include "sextant/base/coding.h"
#include "sextant/base/error.h"
#include "sextant/formats/example_wire.h"

namespace sextant {
namespace {

static_assert(std::endian::native == std::endian::little, "floats are copied as they are");

// All fields here are bytes; the kind of a feature is the number of its field.
constexpr char Tag(int field) { return static_cast<char>(field << 3 | 2); }

size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}
// The size of a field of bytes.
size_t FieldSize(size_t size) { return 1 + VarintSize(size) + size; }

void PutHeader(std::string* dst, int field, size_t size) {
  dst->push_back(Tag(field));
  PutVarint64(dst, size);
}
void PutField(std::string* dst, int field, std::string_view bytes) {
  PutHeader(dst, field, bytes.size());
  dst->append(bytes);
}

// An entry of the map of features up to its list of `list_size` bytes, which is to follow.
void PutEntry(std::string* dst, std::string_view key, FeatureKind kind, size_t list_size) {
  const size_t feature_size = FieldSize(list_size);
  PutHeader(dst, 1, FieldSize(key.size()) + FieldSize(feature_size));
  PutField(dst, 1, key);
  PutHeader(dst, 2, feature_size);
  PutHeader(dst, static_cast<int>(kind), list_size);
}

// The lists: one field per string, or all numbers in one field.
size_t ListSize(std::span<const std::string> values) {
  size_t size = 0;
  for (const std::string& value : values) size += FieldSize(value.size());
  return size;
}
size_t PackedSize(std::span<const int64_t> values) {
  size_t size = 0;
  for (const int64_t value : values) size += VarintSize(static_cast<uint64_t>(value));
  return size;
}
size_t ListSize(std::span<const int64_t> values) {
  return values.empty() ? 0 : FieldSize(PackedSize(values));
}
size_t ListSize(std::span<const float> values) {
  return values.empty() ? 0 : FieldSize(values.size_bytes());
}

void PutList(std::string* dst, std::span<const std::string> values) {
  for (const std::string& value : values) PutField(dst, 1, value);
}
void PutList(std::string* dst, std::span<const int64_t> values) {
  if (values.empty()) return;
  PutHeader(dst, 1, PackedSize(values));
  for (const int64_t value : values) PutVarint64(dst, static_cast<uint64_t>(value));
}
void PutList(std::string* dst, std::span<const float> values) {
  if (values.empty()) return;
  PutField(dst, 1, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

template <typename T>
void PutFeature(std::string* dst, std::string_view key, FeatureKind kind,
                std::span<const T> values) {
  PutEntry(dst, key, kind, ListSize(values));
  PutList(dst, values);
}

template <typename T>
std::string SerialisedFeature(FeatureKind kind, std::span<const T> values) {
  std::string feature;
  PutHeader(&feature, static_cast<int>(kind), ListSize(values));
  PutList(&feature, values);
  return feature;
}

}  // namespace

ExampleBuilder& ExampleBuilder::Bytes(std::string_view key, std::string_view value) {
  PutEntry(&features_, key, FeatureKind::kBytes, FieldSize(value.size()));
  PutField(&features_, 1, value);
  return *this;
}

ExampleBuilder& ExampleBuilder::Int64(std::string_view key, int64_t value) {
  return Int64s(key, {&value, 1});
}

ExampleBuilder& ExampleBuilder::Float(std::string_view key, float value) {
  return Floats(key, {&value, 1});
}

ExampleBuilder& ExampleBuilder::Bytes(std::string_view key, std::span<const std::string> values) {
  PutFeature(&features_, key, FeatureKind::kBytes, values);
  return *this;
}

ExampleBuilder& ExampleBuilder::Int64s(std::string_view key, std::span<const int64_t> values) {
  PutFeature(&features_, key, FeatureKind::kInt64, values);
  return *this;
}

ExampleBuilder& ExampleBuilder::Floats(std::string_view key, std::span<const float> values) {
  PutFeature(&features_, key, FeatureKind::kFloat, values);
  return *this;
}

void ExampleBuilder::SerializeTo(std::string* bytes) const {
  bytes->clear();
  PutField(bytes, 1, features_);
}

std::string ExampleBuilder::Serialize() const {
  std::string bytes;
  bytes.reserve(FieldSize(features_.size()));
  SerializeTo(&bytes);
  return bytes;
}

SequenceExampleBuilder& SequenceExampleBuilder::FeatureList(std::string_view key) {
  AppendList(&lists_);
  started_ = true;
  key_ = key;
  list_.clear();
  return *this;
}

void SequenceExampleBuilder::AddStep(std::string_view feature) {
  if (!started_) throw FailedPrecondition("a step without a feature list: call FeatureList first");
  PutField(&list_, 1, feature);
}

SequenceExampleBuilder& SequenceExampleBuilder::BytesStep(std::span<const std::string> values) {
  AddStep(SerialisedFeature(FeatureKind::kBytes, values));
  return *this;
}

SequenceExampleBuilder& SequenceExampleBuilder::Int64Step(std::span<const int64_t> values) {
  AddStep(SerialisedFeature(FeatureKind::kInt64, values));
  return *this;
}

SequenceExampleBuilder& SequenceExampleBuilder::FloatStep(std::span<const float> values) {
  AddStep(SerialisedFeature(FeatureKind::kFloat, values));
  return *this;
}

void SequenceExampleBuilder::AppendList(std::string* lists) const {
  if (!started_) return;
  PutHeader(lists, 1, FieldSize(key_.size()) + FieldSize(list_.size()));
  PutField(lists, 1, key_);
  PutField(lists, 2, list_);
}

std::string SequenceExampleBuilder::Serialize() const {
  std::string lists = lists_;
  AppendList(&lists);
  std::string bytes;
  PutField(&bytes, 1, context_.features_);
  PutField(&bytes, 2, lists);
  return bytes;
}

}  // namespace sextant

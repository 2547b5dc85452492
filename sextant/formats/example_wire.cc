#include "sextant/formats/example_wire.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sextant/formats/wire.h"

namespace sextant {
namespace {

constexpr auto kBytes = WireType::kBytes;

bool ReadFeature(std::string_view bytes, JoinedBytes& joined, WireFeature* feature) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.type() != kBytes || reader.field() > 3) continue;
    // The fields have the numbers of the kinds. Another kind replaces what was there, the same one
    // adds to it.
    const auto kind = static_cast<FeatureKind>(reader.field());
    const bool more = feature->kind == kind && !feature->list.empty();
    feature->list = more ? joined.Join(feature->list, reader.bytes()) : reader.bytes();
    feature->kind = kind;
  }
  return reader.ok();
}

// Calls entry(key, value) for each map entry in field 1 of the message; value(bytes) is called for
// each piece of the entry's value, after begin().
template <typename Begin, typename Value, typename End>
bool ReadMap(std::string_view bytes, Begin begin, Value value, End end) {
  WireReader reader(bytes);
  while (reader.Next()) {
    if (!reader.Is(1, kBytes)) continue;
    WireReader entry(reader.bytes());
    std::string_view key;
    begin();
    while (entry.Next()) {
      if (entry.Is(1, kBytes)) key = entry.bytes();
      if (entry.Is(2, kBytes) && !value(entry.bytes())) return false;
    }
    if (!entry.ok()) return false;
    end(key);
  }
  return reader.ok();
}

bool ReadFeatures(std::string_view bytes, JoinedBytes& joined, FeatureFn feature) {
  WireFeature read;
  return ReadMap(
      bytes, [&] { read = {}; },
      [&](std::string_view piece) { return ReadFeature(piece, joined, &read); },
      [&](std::string_view key) { feature(key, read); });
}

bool IsFieldList(std::string_view bytes) {
  WireReader reader(bytes);
  while (reader.Next()) {
  }
  return reader.ok();
}

// The common form: the whole list is one packed field.
bool OnePackedField(std::string_view list, std::string_view* values) {
  if (list.empty() || list[0] != 0x0A) return false;
  WireReader reader(list);
  if (!reader.Next() || !reader.at_end()) return false;
  *values = reader.bytes();
  return true;
}

int64_t CountVarints(std::string_view bytes) {
  if (bytes.empty()) return 0;
  if (static_cast<uint8_t>(bytes.back()) >= 0x80) return -1;
  int64_t count = 0;
  for (const char c : bytes) count += static_cast<uint8_t>(c) < 0x80;
  // No varint is longer than ten bytes.
  if (static_cast<int64_t>(bytes.size()) > count) {
    int run = 0;
    for (const char c : bytes) {
      run = static_cast<uint8_t>(c) < 0x80 ? 0 : run + 1;
      if (run == 10) return -1;
    }
  }
  return count;
}

int64_t CountPacked(FeatureKind kind, std::string_view values) {
  if (kind == FeatureKind::kInt64) return CountVarints(values);
  return values.size() % sizeof(float) == 0 ? static_cast<int64_t>(values.size() / sizeof(float))
                                            : -1;
}

void DecodePacked(std::string_view values, float* out) {
  if (!values.empty()) std::memcpy(out, values.data(), values.size());
}
void DecodePacked(std::string_view values, int64_t* out) {
  WireReader reader(values);
  for (uint64_t value; reader.ReadVarint(10, &value); ++out) *out = static_cast<int64_t>(value);
}

template <typename T, typename Convert>
void ReadNumbers(std::string_view list, std::span<T> out, FeatureKind kind, WireType single,
                 Convert convert) {
  std::string_view values;
  if (OnePackedField(list, &values)) return DecodePacked(values, out.data());
  WireReader reader(list);
  T* next = out.data();
  while (reader.Next()) {
    if (reader.Is(1, single)) *next++ = convert(reader.number());
    if (reader.Is(1, kBytes)) {
      DecodePacked(reader.bytes(), next);
      next += CountPacked(kind, reader.bytes());
    }
  }
}

}  // namespace

std::string_view FeatureKindName(FeatureKind kind) {
  constexpr std::string_view kNames[] = {"nothing", "bytes", "float", "int64"};
  return kNames[static_cast<int>(kind)];
}

std::string_view JoinedBytes::Join(std::string_view first, std::string_view second) {
  std::string joined(first);
  joined += second;
  const std::lock_guard lock(mutex_);
  return kept_.emplace_back(std::move(joined));
}

bool ReadExample(std::string_view example, JoinedBytes& joined, FeatureFn feature) {
  WireReader reader(example);
  while (reader.Next()) {
    if (reader.Is(1, kBytes) && !ReadFeatures(reader.bytes(), joined, feature)) return false;
  }
  return reader.ok();
}

bool ReadSequenceExample(std::string_view example, JoinedBytes& joined, FeatureFn context,
                         FeatureListFn feature_list) {
  WireReader reader(example);
  while (reader.Next()) {
    if (reader.Is(1, kBytes) && !ReadFeatures(reader.bytes(), joined, context)) return false;
    std::string_view list;
    if (reader.Is(2, kBytes) && !ReadMap(
                                    reader.bytes(), [&] { list = {}; },
                                    [&](std::string_view piece) {
                                      list = list.empty() ? piece : joined.Join(list, piece);
                                      return IsFieldList(piece);
                                    },
                                    [&](std::string_view key) { feature_list(key, list); })) {
      return false;
    }
  }
  return reader.ok();
}

bool ReadFeatureList(std::string_view list, JoinedBytes& joined,
                     FunctionRef<void(const WireFeature& feature)> feature) {
  WireReader reader(list);
  while (reader.Next()) {
    if (!reader.Is(1, kBytes)) continue;
    WireFeature read;
    if (!ReadFeature(reader.bytes(), joined, &read)) return false;
    feature(read);
  }
  return reader.ok();
}

int64_t CountValues(const WireFeature& feature) {
  if (feature.kind == FeatureKind::kNone) return 0;
  const bool packable = feature.kind != FeatureKind::kBytes;
  std::string_view values;
  if (packable && OnePackedField(feature.list, &values)) return CountPacked(feature.kind, values);
  const WireType single = feature.kind == FeatureKind::kFloat   ? WireType::kFixed32
                          : feature.kind == FeatureKind::kInt64 ? WireType::kVarint
                                                                : kBytes;
  int64_t count = 0;
  WireReader reader(feature.list);
  while (reader.Next()) {
    if (reader.Is(1, single)) {
      ++count;
    } else if (packable && reader.Is(1, kBytes)) {
      const int64_t packed = CountPacked(feature.kind, reader.bytes());
      if (packed < 0) return -1;
      count += packed;
    }
  }
  return reader.ok() ? count : -1;
}

void ReadValues(std::string_view list, std::span<float> out) {
  ReadNumbers(list, out, FeatureKind::kFloat, WireType::kFixed32,
              [](uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); });
}

void ReadValues(std::string_view list, std::span<int64_t> out) {
  ReadNumbers(list, out, FeatureKind::kInt64, WireType::kVarint,
              [](uint64_t value) { return static_cast<int64_t>(value); });
}

void ReadValues(std::string_view list, std::span<std::string> out) {
  WireReader reader(list);
  std::string* next = out.data();
  while (reader.Next()) {
    if (reader.Is(1, kBytes)) *next++ = reader.bytes();
  }
}

}  // namespace sextant

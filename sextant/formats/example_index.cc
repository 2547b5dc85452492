#include "sextant/formats/example_index.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sextant {
namespace {

// Of the length and both ends: keys are short and differ there.
size_t HashKey(std::string_view key) {
  uint64_t head = 0, tail = 0;
  const size_t size = std::min(key.size(), sizeof head);
  if (size > 0) {
    std::memcpy(&head, key.data(), size);
    std::memcpy(&tail, key.data() + key.size() - size, size);
  }
  const uint64_t mixed = (head ^ std::rotl(tail, 29) ^ key.size()) * 0x9E3779B97F4A7C15;
  return mixed ^ (mixed >> 32);
}

}  // namespace

void FeatureTable::Set(std::vector<WantedFeature> wanted) {
  wanted_ = std::move(wanted);
  slots_.assign(std::bit_ceil(2 * wanted_.size() + 1), -1);
  first_.clear();
  for (int f = 0; f < size(); ++f) {
    const int found = Find(wanted_[f].key);
    first_.push_back(found < 0 ? f : found);
    if (found >= 0) continue;
    size_t slot = HashKey(wanted_[f].key);
    while (slots_[slot & (slots_.size() - 1)] >= 0) ++slot;
    slots_[slot & (slots_.size() - 1)] = f;
  }
}

int FeatureTable::Find(std::string_view key) const {
  for (size_t slot = HashKey(key);; ++slot) {
    const int f = slots_[slot & (slots_.size() - 1)];
    if (f < 0 || wanted_[f].key == key) return f;
  }
}

void ExampleIndex::Reset(std::span<const std::string> examples,
                         std::span<const std::string> names) {
  examples_ = examples;
  names_ = names;
  joined_.Clear();
  entries_.resize(examples.size() * static_cast<size_t>(table_.size()));
}

void ExampleIndex::Scan(int64_t begin, int64_t end) {
  if (table_.size() == 0) return;
  for (int64_t i = begin; i < end; ++i) ScanOne(i);
}

void ExampleIndex::ScanOne(int64_t example) {
  Entry* const entries = &entries_[example * table_.size()];
  std::fill_n(entries, table_.size(), Entry{FeatureKind::kNone, -1, {}});
  const auto found = [&](std::string_view key, const WireFeature& feature) {
    const int f = table_.Find(key);
    if (f < 0 || feature.kind == FeatureKind::kNone) return;
    entries[f] = {feature.kind, 0, feature.list};
  };
  if (!ReadExample(examples_[example], joined_, found)) {
    throw InvalidArgument("example {}{}: its {} bytes are not a tf.train.Example", example,
                          names_.empty() ? "" : " ('" + names_[example] + "')",
                          examples_[example].size());
  }
  for (int f = 0; f < table_.size(); ++f) {
    if (const int first = table_.First(f); first != f) entries[f] = entries[first];
    Entry& entry = entries[f];
    if (entry.kind == FeatureKind::kNone) continue;
    const FeatureKind wanted = table_.wanted()[f].kind;
    if (entry.kind != wanted) {
      throw BadFeature(example, f,
                       fmt::format("it holds {} values, expected {}", FeatureKindName(entry.kind),
                                   FeatureKindName(wanted)));
    }
    entry.count = CountValues({entry.kind, entry.list});
    if (entry.count < 0) throw BadFeature(example, f, "its list of values is malformed");
  }
}

Error ExampleIndex::BadFeature(int64_t example, int f, std::string_view reason) const {
  return InvalidArgument("example {}{}, feature '{}': {}", example,
                         names_.empty() ? "" : " ('" + names_[example] + "')",
                         table_.wanted()[f].key, reason);
}

}  // namespace sextant

// ExampleIndex: where the wanted features of a batch of serialized Examples stand, and how many
// values each has. One pass over the bytes makes it; the values are then decoded straight to where
// they belong.
//
//   index.SetWanted({{"age", FeatureKind::kFloat}, {"words", FeatureKind::kBytes}});
//   index.Reset(batch, names);
//   index.Scan(0, batch);                    // or parts of it by several threads
//   ... index.count(i, 0) ... ReadValues(index.list(i, 0), out) ...
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/formats/example_wire.h"

namespace sextant {

struct WantedFeature {
  std::string key;
  FeatureKind kind = FeatureKind::kNone;
  bool operator==(const WantedFeature&) const = default;
};

// Maps keys to their positions in a list of wanted features.
class FeatureTable {
 public:
  void Set(std::vector<WantedFeature> wanted);
  const std::vector<WantedFeature>& wanted() const { return wanted_; }
  int size() const { return static_cast<int>(wanted_.size()); }
  // The first feature with this key, or -1.
  int Find(std::string_view key) const;
  // The first feature with the same key as feature f: f itself unless a key is wanted twice.
  int First(int f) const { return first_[f]; }

 private:
  std::vector<WantedFeature> wanted_;
  std::vector<int> slots_, first_;  // slots_: a hash table, -1 where empty
};

// One example is scanned by one thread; several may scan different ones.
class ExampleIndex {
 public:
  void SetWanted(std::vector<WantedFeature> wanted) { table_.Set(std::move(wanted)); }
  const std::vector<WantedFeature>& wanted() const { return table_.wanted(); }

  // Starts a batch. "names" are for messages: one per example, or none. What is given must outlive
  // the use of the index.
  void Reset(std::span<const std::string> examples, std::span<const std::string> names = {});
  // Throws INVALID_ARGUMENT when one of examples [begin, end) is malformed or holds a feature of
  // another kind than wanted.
  void Scan(int64_t begin, int64_t end);

  int64_t size() const { return static_cast<int64_t>(examples_.size()); }
  // A feature that is missing or has no kind has no values. An entry given twice counts the last
  // time it has a kind.
  bool missing(int64_t example, int f) const { return At(example, f).count < 0; }
  int64_t count(int64_t example, int f) const { return std::max<int64_t>(At(example, f).count, 0); }
  std::string_view list(int64_t example, int f) const { return At(example, f).list; }

  // INVALID_ARGUMENT about feature f of an example: "example 3 ('name'), feature 'age': reason".
  Error BadFeature(int64_t example, int f, std::string_view reason) const;

 private:
  struct Entry {
    FeatureKind kind;
    int64_t count;  // -1: missing
    std::string_view list;
  };
  const Entry& At(int64_t example, int f) const { return entries_[example * table_.size() + f]; }
  void ScanOne(int64_t example);

  FeatureTable table_;
  std::span<const std::string> examples_, names_;
  std::vector<Entry> entries_;
  JoinedBytes joined_;
};

}  // namespace sextant

// What records are, and their features.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "sextant/cli/inspect/text_table.h"
#include "sextant/formats/compression.h"

namespace sextant::proto {
class Example;
class Feature;
class SequenceExample;
}  // namespace sextant::proto

namespace sextant {
class JsonWriter;
}

namespace sextant::cli {

enum class RecordContent { kBytes, kExample, kSequenceExample };

// Judged by the first hundred records: Examples if all are, without unknown fields.
RecordContent DetectContent(const std::string& path, Compression compression);

// {"bytes_list": [...]}, null for a feature without a kind, as the recorded index files have them.
void WriteExample(const proto::Example& example, JsonWriter& json);
void WriteSequenceExample(const proto::SequenceExample& example, JsonWriter& json);

// Gathers features over records.
class FeatureStatistics {
 public:
  void Add(const proto::Example& example);
  void Add(const proto::SequenceExample& example);
  // One row per feature: name, kind, records that have it, values per record, range, an example.
  TextTable Table() const;

 private:
  struct Entry {
    std::string kinds;
    int64_t records = 0;
    int64_t min_count = INT64_MAX, max_count = 0;
    double min = 1e308, max = -1e308;  // of numbers, or of lengths of bytes
    std::string example;
  };
  void Add(const std::string& name, const proto::Feature& feature);

  std::map<std::string, Entry> entries_;
};

}  // namespace sextant::cli

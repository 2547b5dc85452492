#include "sextant/cli/inspect/record_content.h"

#include <fmt/format.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/json_writer.h"
#include "sextant/base/printable.h"
#include "sextant/formats/tfrecord.h"
#include "sextant/proto/example.pb.h"

namespace sextant::cli {
namespace {

using proto::Feature;

// Whether all of the message's own fields are known.
bool Known(const google::protobuf::Message& message) {
  return message.GetReflection()->GetUnknownFields(message).empty();
}

bool KnownFeatures(const proto::Features& features) {
  return Known(features) && std::all_of(features.feature().begin(), features.feature().end(),
                                        [](const auto& entry) { return Known(entry.second); });
}

bool IsExample(std::string_view record) {
  proto::Example example;
  return example.ParseFromArray(record.data(), static_cast<int>(record.size())) && Known(example) &&
         KnownFeatures(example.features());
}

bool IsSequenceExample(std::string_view record) {
  proto::SequenceExample example;
  return example.ParseFromArray(record.data(), static_cast<int>(record.size())) && Known(example) &&
         KnownFeatures(example.context()) && Known(example.feature_lists());
}

void WriteFeature(const Feature& feature, JsonWriter& json) {
  if (feature.kind_case() == Feature::KIND_NOT_SET) return json.Null();
  json.BeginObject();
  if (feature.has_bytes_list()) {
    json.Key("bytes_list");
    json.BeginArray();
    for (const std::string& value : feature.bytes_list().value()) json.Bytes(value);
  } else if (feature.has_float_list()) {
    json.Key("float_list");
    json.BeginArray();
    for (const float value : feature.float_list().value()) json.Double(value);
  } else {
    json.Key("int64_list");
    json.BeginArray();
    for (const int64_t value : feature.int64_list().value()) json.Int(value);
  }
  json.EndArray();
  json.EndObject();
}

// By name: the order of a map is no order.
void WriteFeatures(const proto::Features& features, JsonWriter& json) {
  std::map<std::string_view, const Feature*> sorted;
  for (const auto& [name, feature] : features.feature()) sorted[name] = &feature;
  json.BeginObject();
  for (const auto& [name, feature] : sorted) {
    json.Key(name);
    WriteFeature(*feature, json);
  }
  json.EndObject();
}

std::string FirstBytes(const std::string& value) {
  if (IsPrintable(value)) return "\"" + Shortened(value, 40) + "\"";
  std::string hex;
  for (size_t i = 0; i < std::min<size_t>(value.size(), 8); ++i) {
    hex += fmt::format("{:02x} ", static_cast<unsigned char>(value[i]));
  }
  return fmt::format("{}{}({} bytes)", hex, value.size() > 8 ? "... " : "", value.size());
}

template <typename Values>
std::string FirstNumbers(const Values& values) {
  std::string text;
  for (int i = 0; i < std::min<int>(values.size(), 4); ++i) {
    text += fmt::format("{}{:.6g}", i == 0 ? "" : ", ", static_cast<double>(values[i]));
  }
  return values.size() > 4 ? text + ", ..." : text;
}

std::string Range(double min, double max) {
  return min == max ? fmt::format("{:.6g}", min) : fmt::format("{:.6g} .. {:.6g}", min, max);
}

}  // namespace

RecordContent DetectContent(const std::string& path, Compression compression) {
  bool examples = true, sequences = true, any = false;
  try {
    TFRecordReader reader(path, compression);
    std::string_view record;
    for (int i = 0; i < 100 && (examples || sequences) && reader.NextView(&record); ++i) {
      any = any || !record.empty();
      examples = examples && IsExample(record);
      sequences = sequences && IsSequenceExample(record);
    }
  } catch (const Error&) {
    // Damage is reported where the records are shown.
  }
  if (!any) return RecordContent::kBytes;
  return examples    ? RecordContent::kExample
         : sequences ? RecordContent::kSequenceExample
                     : RecordContent::kBytes;
}

void WriteExample(const proto::Example& example, JsonWriter& json) {
  WriteFeatures(example.features(), json);
}

void WriteSequenceExample(const proto::SequenceExample& example, JsonWriter& json) {
  json.BeginObject();
  json.Key("context");
  WriteFeatures(example.context(), json);
  json.Key("feature_lists");
  std::map<std::string_view, const proto::FeatureList*> sorted;
  for (const auto& [name, list] : example.feature_lists().feature_list()) sorted[name] = &list;
  json.BeginObject();
  for (const auto& [name, list] : sorted) {
    json.Key(name);
    json.BeginArray();
    for (const Feature& feature : list->feature()) WriteFeature(feature, json);
    json.EndArray();
  }
  json.EndObject();
  json.EndObject();
}

void FeatureStatistics::Add(const std::string& name, const Feature& feature) {
  Entry& entry = entries_[name];
  ++entry.records;
  std::string_view kind = "none";
  int64_t count = 0;
  std::string example;
  const auto note = [&](double value) {
    entry.min = std::min(entry.min, value);
    entry.max = std::max(entry.max, value);
  };
  if (feature.has_bytes_list()) {
    const auto& values = feature.bytes_list().value();
    kind = "bytes";
    count = values.size();
    for (const std::string& value : values) note(static_cast<double>(value.size()));
    if (count > 0) example = FirstBytes(values[0]);
  } else if (feature.has_float_list()) {
    const auto& values = feature.float_list().value();
    kind = "float";
    count = values.size();
    for (const float value : values) note(value);
    example = FirstNumbers(values);
  } else if (feature.has_int64_list()) {
    const auto& values = feature.int64_list().value();
    kind = "int64";
    count = values.size();
    for (const int64_t value : values) note(static_cast<double>(value));
    example = FirstNumbers(values);
  }
  if (entry.kinds.find(kind) == std::string::npos) {
    entry.kinds += (entry.kinds.empty() ? "" : "/") + std::string(kind);
  }
  entry.min_count = std::min(entry.min_count, count);
  entry.max_count = std::max(entry.max_count, count);
  if (entry.example.empty()) entry.example = example;
}

void FeatureStatistics::Add(const proto::Example& example) {
  for (const auto& [name, feature] : example.features().feature()) Add(name, feature);
}

void FeatureStatistics::Add(const proto::SequenceExample& example) {
  for (const auto& [name, feature] : example.context().feature()) Add(name, feature);
  for (const auto& [name, list] : example.feature_lists().feature_list()) {
    for (const Feature& feature : list.feature()) Add(name + "[]", feature);
  }
}

TextTable FeatureStatistics::Table() const {
  TextTable table({"feature", "kind", "records", "values", "range", "first"});
  for (const auto& [name, entry] : entries_) {
    const std::string range = entry.min > entry.max ? "" : Range(entry.min, entry.max);
    table.AddRow({Shortened(name), entry.kinds, fmt::format("{}", entry.records),
                  Range(static_cast<double>(entry.min_count), static_cast<double>(entry.max_count)),
                  entry.kinds == "bytes" && !range.empty() ? range + " bytes" : range,
                  entry.example});
  }
  return table;
}

}  // namespace sextant::cli

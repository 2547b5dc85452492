#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/formats/example.h"
#include "sextant/formats/tfrecord.h"
#include "tests/conformance/file_cases.h"
#include "tests/conformance/json_values.h"

namespace sextant::conformance {
namespace {

using nlohmann::json;
using Strings = std::vector<std::string>;

struct Reading {
  Strings records;
  std::vector<uint64_t> offsets;
  Status status;
};

Reading ReadAll(const std::string& path, Compression compression) {
  Reading reading;
  try {
    TFRecordReader reader(path, compression);
    std::string record;
    for (uint64_t offset = 0; reader.Next(&record); offset = reader.offset()) {
      reading.records.push_back(record);
      reading.offsets.push_back(offset);
    }
  } catch (const Error& e) {  // what damaged files are compared by
    reading.status = e.status();
  }
  return reading;
}

std::string RecordsDifference(const Strings& records, const json& expected) {
  if (records.size() != expected.size()) {
    return fmt::format("{} records, expected {}", records.size(), expected.size());
  }
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].size() != expected[i]["length"].get<size_t>() ||
        Sha256(records[i]) != expected[i]["sha256"].get<std::string>()) {
      return fmt::format("record {} of {} bytes is not the one of {} bytes expected", i,
                         records[i].size(), expected[i]["length"].get<size_t>());
    }
  }
  return "";
}

std::string FeatureDifference(const proto::Feature& feature, const json& expected) {
  if (expected.is_null()) {
    return feature.kind_case() == proto::Feature::KIND_NOT_SET ? "" : "has a kind";
  }
  const std::string kind = expected.begin().key();
  const json& values = expected.begin().value();
  bool equal = false;
  if (kind == "bytes_list" && feature.has_bytes_list()) {
    equal = std::ranges::equal(feature.bytes_list().value(), values, {}, {}, JsonBytes);
  } else if (kind == "int64_list" && feature.has_int64_list()) {
    equal = std::ranges::equal(feature.int64_list().value(), values, {}, {},
                               [](const json& x) { return x.get<int64_t>(); });
  } else if (kind == "float_list" && feature.has_float_list()) {
    equal = std::ranges::equal(
        feature.float_list().value(), values,
        [](float a, float b) { return a == b || (a != a && b != b); }, {},
        [](const json& x) { return static_cast<float>(JsonNumber(x)); });
  }
  if (equal) return "";
  return fmt::format("is {}, expected {}", feature.ShortDebugString(), expected.dump());
}

// The parts of a map, by key.
template <typename Map, typename Compare>
std::string MapDifference(const Map& map, const json& expected, const Compare& compare) {
  if (map.size() != expected.size()) {
    return fmt::format("{} entries, expected {}", map.size(), expected.size());
  }
  for (const auto& [key, value] : expected.items()) {
    const auto it = map.find(key);
    if (it == map.end()) return fmt::format("'{}' is missing", key);
    const std::string difference = compare(it->second, value);
    if (!difference.empty()) return fmt::format("'{}' {}", key, difference);
  }
  return "";
}

std::string ListDifference(const proto::FeatureList& list, const json& expected) {
  if (static_cast<size_t>(list.feature_size()) != expected.size()) {
    return fmt::format("has {} steps, expected {}", list.feature_size(), expected.size());
  }
  for (int i = 0; i < list.feature_size(); ++i) {
    const std::string difference = FeatureDifference(list.feature(i), expected[i]);
    if (!difference.empty()) return fmt::format("step {} {}", i, difference);
  }
  return "";
}

std::string ExampleDifference(const std::string& record, const json& expected) {
  if (!expected.contains("feature_lists")) {
    return MapDifference(ParseExample(record).features().feature(), expected, FeatureDifference);
  }
  const proto::SequenceExample example = ParseSequenceExample(record);
  const std::string context =
      MapDifference(example.context().feature(), expected["context"], FeatureDifference);
  if (!context.empty()) return "context: " + context;
  return MapDifference(example.feature_lists().feature_list(), expected["feature_lists"],
                       ListDifference);
}

std::string ExamplesDifference(const Strings& records, const json& expected) {
  if (records.size() != expected.size()) {
    return fmt::format("{} examples, expected {}", records.size(), expected.size());
  }
  for (size_t i = 0; i < records.size(); ++i) {
    const std::string difference = ExampleDifference(records[i], expected[i]);
    if (!difference.empty()) return fmt::format("example {}: {}", i, difference);
  }
  return "";
}

class TFRecordFiles {
 public:
  explicit TFRecordFiles(const std::string& directory)
      : directory_(directory), index_(ReadJson(JoinPath(directory, "index.json"))) {}

  Counts Run() {
    for (const json& file : index_.at("files")) {
      const std::string name = file.at("file");
      Try(JoinPath(directory_, name), name, "content", counts_, [&] { return Content(file); });
      Try(JoinPath(directory_, name), name, "rewritten", counts_, [&] { return Rewritten(file); });
    }
    for (const json& damaged : index_.at("corrupted")) {
      const std::string name = damaged.at("file");
      Try(JoinPath(directory_, name), name, "damage", counts_, [&] { return Damage(damaged); });
    }
    return counts_;
  }

 private:
  Reading ReadFile(const json& file) const {
    return ReadAll(JoinPath(directory_, file["file"].get<std::string>()),
                   ParseCompression(file.at("compression").get<std::string>()));
  }

  std::string Content(const json& file) const {
    const std::string name = file["file"];
    const Reading reading = ReadFile(file);
    if (!reading.status.ok()) return reading.status.ToString();
    if (reading.records.size() != file.at("num_records").get<size_t>()) {
      return fmt::format("{} records, expected {}", reading.records.size(),
                         file["num_records"].get<size_t>());
    }
    if (file.contains("offsets") && json(reading.offsets) != file["offsets"]) {
      return fmt::format("records at {}, expected {}", json(reading.offsets).dump(),
                         file["offsets"].dump());
    }
    if (file.contains("lengths")) {
      std::vector<size_t> lengths;
      for (const std::string& record : reading.records) lengths.push_back(record.size());
      if (json(lengths) != file["lengths"]) return "records of other lengths";
    }
    const std::string stem = name.substr(0, name.find('.'));
    const std::string examples = JoinPath(directory_, stem + ".json");
    if (FileSystem::ForPath(examples).Exists(examples)) {
      return ExamplesDifference(reading.records, ReadJson(examples));
    }
    if (stem == "plain" || stem == "gzip" || stem == "zlib") {
      return RecordsDifference(reading.records, index_.at("records"));
    }
    return "";
  }

  // The bytes that TensorFlow wrote are those that we write.
  std::string Rewritten(const json& file) const {
    const std::string path = "memory://rewritten.tfrecord";
    const Compression compression = ParseCompression(file["compression"].get<std::string>());
    {
      TFRecordWriter writer(path, {.compression = compression});
      for (const std::string& record : ReadFile(file).records) writer.Write(record);
      writer.Close();
    }
    const std::string original = JoinPath(directory_, file["file"].get<std::string>());
    const bool equal = FileSystem::ForPath(path).ReadFile(path) ==
                       FileSystem::ForPath(original).ReadFile(original);
    return equal ? "" : "our bytes of the same records differ";
  }

  std::string Damage(const json& damaged) const {
    const std::string name = damaged["file"];
    const Compression compression = ParseCompression(damaged.value("read_as", "NONE"));
    const Reading reading = ReadAll(JoinPath(directory_, name), compression);
    const size_t count = damaged.at("records_before_error");
    if (reading.records.size() != count) {
      return fmt::format("{} records, expected {}", reading.records.size(), count);
    }
    const json& error = damaged.at("iterator_error");
    const int code = error.is_null() ? 0 : error.at("code").get<int>();
    if (static_cast<int>(reading.status.code()) != code) {
      return fmt::format("{}, expected code {}", reading.status.ToString(), code);
    }
    if (error.is_null()) return "";
    // "corrupted record at 370", "truncated record at 358' failed with ...": ours says the same.
    const std::string message = error.at("message");
    const size_t number = message.find("record at ");
    if (number == std::string::npos) return "";
    const size_t end = message.find_first_not_of("0123456789", number + 10);
    const std::string where = message.substr(0, end) + ":";
    if (reading.status.message().find(where) != std::string::npos) return "";
    return fmt::format("'{}' does not say '{}'", reading.status.message(), where);
  }

  const std::string directory_;
  const json index_;
  Counts counts_;
};

}  // namespace

Counts RunTFRecordFiles(const std::string& directory) { return TFRecordFiles(directory).Run(); }

}  // namespace sextant::conformance

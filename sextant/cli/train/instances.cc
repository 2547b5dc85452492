#include "sextant/cli/train/instances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/cli/record_detection.h"
#include "sextant/cli/train/instance_value.h"
#include "sextant/data/sources.h"
#include "sextant/formats/csv.h"

namespace sextant::cli {
namespace {

using Json = nlohmann::json;

std::string KeysOf(const Signature& signature) {
  std::vector<std::string> keys;
  for (const auto& [key, input] : signature.inputs()) keys.push_back(key);
  return fmt::format("{}", fmt::join(keys, ", "));
}

// The input that takes whole lines or records, if it is the only one.
const std::string* TextInput(const Signature& signature) {
  if (signature.inputs().size() != 1) return nullptr;
  const auto& [key, input] = *signature.inputs().begin();
  const bool vector = !input.shape.rank_known() || input.shape.rank() == 1;
  return input.dtype == DType::kString && vector ? &key : nullptr;
}

// Texts of a file, a batch at a time, with where they are.
class Texts {
 public:
  Texts(const data::Dataset& dataset, std::string field, std::string path, std::string unit)
      : iterator_(dataset.MakeIterator()),
        field_(std::move(field)),
        path_(std::move(path)),
        unit_(std::move(unit)) {}

  bool Next(std::string* text, std::string* place) {
    data::Element element;
    if (!iterator_->Next(&element)) return false;
    *text = element[field_].scalar<std::string>();
    *place = fmt::format("{}, {} {}", path_, unit_, ++number_);
    return true;
  }

 private:
  std::unique_ptr<data::Iterator> iterator_;
  std::string field_, path_, unit_;
  int64_t number_ = 0;
};

// Lines and records as they are, for a model that parses them itself.
class WholeTexts : public InstanceReader {
 public:
  WholeTexts(Texts texts, std::string key, int64_t batch, bool skip_first)
      : texts_(std::move(texts)), key_(std::move(key)), batch_(batch) {
    std::string text, place;
    if (skip_first) texts_.Next(&text, &place);
  }
  int64_t Next(NamedTensors* inputs) override {
    std::vector<std::string> batch;
    std::string text, place;
    while (static_cast<int64_t>(batch.size()) < batch_ && texts_.Next(&text, &place)) {
      if (text.empty() && key_ != "examples") throw InvalidArgument("{} is empty", place);
      batch.push_back(std::move(text));
    }
    const auto count = static_cast<int64_t>(batch.size());
    if (count > 0) *inputs = {{key_, Tensor::FromVector(batch)}};
    return count;
  }

 private:
  Texts texts_;
  const std::string key_;
  const int64_t batch_;
};

// JSON objects, one a line, with a value for every input.
class JsonLines : public InstanceReader {
 public:
  JsonLines(Texts texts, const Signature& signature, int64_t batch)
      : texts_(std::move(texts)), signature_(signature), batch_(batch) {}

  int64_t Next(NamedTensors* inputs) override {
    std::map<std::string, std::vector<Json>> values;
    std::vector<std::string> places;
    std::string text, place;
    while (static_cast<int64_t>(places.size()) < batch_ && texts_.Next(&text, &place)) {
      Take(Json::parse(text, nullptr, /*allow_exceptions=*/false), place, &values);
      places.push_back(place);
    }
    inputs->clear();
    if (places.empty()) return 0;
    for (const auto& [key, column] : values) {
      (*inputs)[key] = InstanceTensor(key, signature_.inputs().at(key), column, places);
    }
    return static_cast<int64_t>(places.size());
  }

 private:
  void Take(Json instance, const std::string& place,
            std::map<std::string, std::vector<Json>>* values) const {
    if (instance.is_discarded()) throw InvalidArgument("{} is no JSON", place);
    if (!instance.is_object() && signature_.inputs().size() == 1) {
      instance = Json{{signature_.inputs().begin()->first, std::move(instance)}};
    }
    if (!instance.is_object()) {
      throw InvalidArgument("{} is no JSON object with the keys {}", place, KeysOf(signature_));
    }
    for (const auto& [key, value] : instance.items()) {
      if (!signature_.inputs().contains(key)) {
        throw InvalidArgument("{}: the model has no input '{}'; it has {}", place, key,
                              KeysOf(signature_));
      }
    }
    for (const auto& [key, input] : signature_.inputs()) {
      if (!instance.contains(key)) {
        if (input.optional) continue;
        throw InvalidArgument("{}: there is no value for input '{}'", place, key);
      }
      (*values)[key].push_back(instance[key]);
    }
  }

  Texts texts_;
  const Signature& signature_;
  const int64_t batch_;
};

// Rows of CSV for a model that takes columns by name.
class CsvColumns : public InstanceReader {
 public:
  CsvColumns(Texts texts, const Signature& signature, const InstanceOptions& options,
             const std::string& path)
      : texts_(std::move(texts)), signature_(signature), batch_(options.batch), splitter_({}) {
    std::string text, place;
    columns_ = options.columns;
    if (options.header) {
      if (!texts_.Next(&text, &place)) return;
      const auto& names = splitter_.Split(text);
      columns_.assign(names.begin(), names.end());
    }
    if (columns_.empty()) {
      throw InvalidArgument(
          "the model takes columns by name ({}), but {} does not name its own; add --header or "
          "--columns",
          KeysOf(signature), path);
    }
    for (const auto& [key, input] : signature.inputs()) {
      if (std::find(columns_.begin(), columns_.end(), key) == columns_.end() && !input.optional) {
        throw InvalidArgument("{} has no column '{}', which the model takes; it has {}", path, key,
                              fmt::join(columns_, ", "));
      }
    }
  }

  int64_t Next(NamedTensors* inputs) override {
    std::map<std::string, std::vector<std::string>> values;
    std::vector<std::string> places;
    std::string text, place;
    while (static_cast<int64_t>(places.size()) < batch_ && texts_.Next(&text, &place)) {
      const auto& fields = splitter_.Split(text);
      if (fields.size() != columns_.size()) {
        throw InvalidArgument("{} has {} columns instead of {}", place, fields.size(),
                              columns_.size());
      }
      for (size_t i = 0; i < fields.size(); ++i) values[columns_[i]].emplace_back(fields[i]);
      places.push_back(place);
    }
    inputs->clear();
    if (places.empty()) return 0;
    for (const auto& [key, input] : signature_.inputs()) {
      const auto column = values.find(key);
      if (column != values.end()) {
        (*inputs)[key] = FieldTensor(key, input, column->second, places);
      }
    }
    return static_cast<int64_t>(places.size());
  }

 private:
  Texts texts_;
  const Signature& signature_;
  const int64_t batch_;
  CsvSplitter splitter_;
  std::vector<std::string> columns_;
};

}  // namespace

InstanceFormat InstanceFormatByName(const std::string& name) {
  if (name == "csv") return InstanceFormat::kCsv;
  if (name == "json") return InstanceFormat::kJson;
  if (name == "example" || name == "examples") return InstanceFormat::kExamples;
  throw InvalidArgument("the format must be csv, json or example, not {}", name);
}

InstanceFormat FormatOfFile(const std::string& path) {
  if (path.ends_with(".csv")) return InstanceFormat::kCsv;
  for (const char* ending : {".json", ".jsonl", ".ndjson"}) {
    if (path.ends_with(ending)) return InstanceFormat::kJson;
  }
  if (FileSystem::ForPath(path).Stat(path).size > 0 && DetectTFRecord(path)) {
    return InstanceFormat::kExamples;
  }
  throw InvalidArgument("cannot tell what {} holds; say --format csv, json or example", path);
}

std::unique_ptr<InstanceReader> OpenInstances(const std::string& path, const Signature& signature,
                                              const InstanceOptions& options) {
  FileSystem::ForPath(path).Stat(path);
  const std::string* text_input = TextInput(signature);
  const auto lines = [&] { return Texts(data::TextLines({path}), "line", path, "line"); };
  if (options.format == InstanceFormat::kExamples) {
    if (text_input == nullptr) {
      throw InvalidArgument(
          "{} holds Examples, but the model takes {}; export it with --receiver example", path,
          KeysOf(signature));
    }
    const auto compression = DetectTFRecord(path);
    if (!compression) throw InvalidArgument("{} is no file of records", path);
    return std::make_unique<WholeTexts>(
        Texts(data::TFRecordFiles({path}, {.compression = *compression}), "record", path, "record"),
        *text_input, options.batch, false);
  }
  if (options.format == InstanceFormat::kJson) {
    return std::make_unique<JsonLines>(lines(), signature, options.batch);
  }
  if (text_input != nullptr) {
    if (*text_input == "examples" || *text_input == "example_proto") {
      throw InvalidArgument(
          "{} holds CSV, but the model takes Examples; export it with --receiver csv or json",
          path);
    }
    return std::make_unique<WholeTexts>(lines(), *text_input, options.batch, options.header);
  }
  return std::make_unique<CsvColumns>(lines(), signature, options, path);
}

}  // namespace sextant::cli

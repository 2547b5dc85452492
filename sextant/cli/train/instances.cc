#include "sextant/cli/train/instances.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "sextant/base/cancellable_wait.h"
#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/nearest_name.h"
#include "sextant/base/utf8.h"
#include "sextant/cli/record_detection.h"
#include "sextant/cli/train/instance_columns.h"
#include "sextant/data/sources.h"
#include "sextant/formats/csv.h"
#include "sextant/formats/json_tensor.h"

namespace sextant::cli {
namespace {

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
        unit_(std::move(unit)) {
    if (CancellationToken* const token = CancellationScope::Current()) {
      on_cancel_ = token->OnCancel([iterator = iterator_.get()] { iterator->Cancel(); });
    }
  }

  bool Next(std::string* text, std::string* place) {
    data::Element element;
    if (!iterator_->Next(&element)) return false;
    *text = element[field_].scalar<std::string>();
    if (number_ == 0 && unit_ == "line") *text = WithoutByteOrderMark(*text);
    *place = fmt::format("{}, {} {}", path_, unit_, ++number_);
    return true;
  }

 private:
  std::unique_ptr<data::Iterator> iterator_;
  std::string field_, path_, unit_;
  int64_t number_ = 0;
  CancellationToken::Registration on_cancel_;  // last: it uses the iterator
};

// Lines and records as they are, for a model that parses them itself.
class WholeTexts : public InstanceReader {
 public:
  WholeTexts(Texts texts, std::string key, int64_t batch)
      : texts_(std::move(texts)), key_(std::move(key)), batch_(batch) {}
  // Lines of CSV.
  WholeTexts(Texts texts, std::string key, const InstanceOptions& options)
      : WholeTexts(std::move(texts), std::move(key), options.batch) {
    std::vector<std::string> columns = options.columns;
    std::string text, place;
    if (options.header && texts_.Next(&text, &place)) {
      CsvSplitter splitter({});
      const auto& names = splitter.Split(text);
      columns.assign(names.begin(), names.end());
    }
    if (options.defaults.empty()) return;
    if (columns.empty()) {
      throw InvalidArgument("--default needs the names of the columns; add --header or --columns");
    }
    filler_.emplace(std::move(columns), options.defaults);
  }
  int64_t Next(NamedTensors* inputs) override {
    std::vector<std::string> batch;
    std::string text, place;
    while (static_cast<int64_t>(batch.size()) < batch_ && texts_.Next(&text, &place)) {
      if (text.empty() && key_ != "examples") throw InvalidArgument("{} is empty", place);
      batch.push_back(filler_ ? filler_->Fill(text, place) : std::move(text));
    }
    const auto count = static_cast<int64_t>(batch.size());
    if (count > 0) *inputs = {{key_, Tensor::FromVector(batch)}};
    return count;
  }

 private:
  Texts texts_;
  const std::string key_;
  const int64_t batch_;
  std::optional<CsvDefaultFiller> filler_;
};

// JSON, one instance a line: an object with a value for every input, or the value of the only one.
class JsonLines : public InstanceReader {
 public:
  JsonLines(Texts texts, const Signature& signature, const InstanceOptions& options)
      : texts_(std::move(texts)),
        signature_(signature),
        options_(options),
        inputs_(JsonInputsOf(signature)) {}

  int64_t Next(NamedTensors* inputs) override {
    JsonInstances instances(inputs_, [&](size_t i, JsonTensorBuilder& builder) {
      const std::string& key = inputs_[i].name;
      return AppendDefault(key, signature_.inputs().at(key), options_.defaults, &builder);
    });
    std::string text, place;
    while (instances.num_instances() < options_.batch && texts_.Next(&text, &place)) {
      try {
        instances.Add(text);
      } catch (const Error& error) {
        throw error.WithPrefix(place + ": ");
      }
    }
    inputs->clear();
    const int64_t count = instances.num_instances();
    if (count == 0) return 0;
    std::vector<Tensor> tensors = instances.Take();
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].valid()) (*inputs)[inputs_[i].name] = std::move(tensors[i]);
    }
    return count;
  }

 private:
  Texts texts_;
  const Signature& signature_;
  const InstanceOptions options_;
  const std::vector<JsonInput> inputs_;
};

// Rows of CSV for a model that takes columns by name.
class CsvColumns : public InstanceReader {
 public:
  CsvColumns(Texts texts, const Signature& signature, const InstanceOptions& options,
             const std::string& path)
      : texts_(std::move(texts)), signature_(signature), options_(options), splitter_({}) {
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
    InstanceColumns columns(signature_, options_.defaults);
    std::vector<std::string> places;
    std::string text, place;
    while (static_cast<int64_t>(places.size()) < options_.batch && texts_.Next(&text, &place)) {
      const auto& fields = splitter_.Split(text);
      if (fields.size() != columns_.size()) {
        throw InvalidArgument("{} has {} columns instead of {}", place, fields.size(),
                              columns_.size());
      }
      for (size_t i = 0; i < fields.size(); ++i) {
        // Columns that the model does not take are passed over.
        if (!signature_.inputs().contains(columns_[i])) continue;
        columns.Add(columns_[i], std::string(fields[i]), place);
      }
      places.push_back(place);
    }
    inputs->clear();
    if (!places.empty()) *inputs = columns.Take(places);
    return static_cast<int64_t>(places.size());
  }

 private:
  Texts texts_;
  const Signature& signature_;
  const InstanceOptions options_;
  CsvSplitter splitter_;
  std::vector<std::string> columns_;
};

void CheckDefaults(const Signature& signature, const InstanceOptions& options) {
  for (const auto& [name, value] : options.defaults) {
    const auto input = signature.inputs().find(name);
    if (input == signature.inputs().end()) {
      std::vector<std::string> keys;
      for (const auto& [key, tensor] : signature.inputs()) keys.push_back(key);
      throw InvalidArgument("--default {}: the model has no such input{}", name,
                            DidYouMeanOneOf(name, keys));
    }
    JsonTensorBuilder scratch(input->second.dtype);
    AppendDefault(name, input->second, options.defaults, &scratch);
  }
}

}  // namespace

void AddDefault(const std::string& text, InstanceOptions* options) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw InvalidArgument("--default must be COLUMN=VALUE, not '{}'", text);
  }
  options->defaults[text.substr(0, equals)] = text.substr(equals + 1);
}

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
        *text_input, options.batch);
  }
  if (options.format == InstanceFormat::kJson) {
    CheckDefaults(signature, options);
    return std::make_unique<JsonLines>(lines(), signature, options);
  }
  if (text_input != nullptr) {
    if (*text_input == "examples" || *text_input == "example_proto") {
      throw InvalidArgument(
          "{} holds CSV, but the model takes Examples; export it with --receiver csv or json",
          path);
    }
    return std::make_unique<WholeTexts>(lines(), *text_input, options);
  }
  CheckDefaults(signature, options);
  return std::make_unique<CsvColumns>(lines(), signature, options, path);
}

}  // namespace sextant::cli

#include "sextant/cli/train/instance_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"
#include "sextant/cli/train/instance_value.h"
#include "sextant/cli/train/prediction_writer.h"

namespace sextant::cli {

using Json = nlohmann::json;

void InstanceColumns::Add(const std::string& key, Json value) {
  values_[key].push_back(std::move(value));
}

void InstanceColumns::AddMissing(const std::string& key, const SignatureTensor& input,
                                 const std::string& place) {
  Json value = DefaultValue(key, input, defaults_);
  if (value.is_null() && !input.optional) {
    throw InvalidArgument("{}: there is no value for input '{}'; give one with --default {}=VALUE",
                          place, key, key);
  }
  Add(key, std::move(value));
}

NamedTensors InstanceColumns::Tensors(const std::vector<std::string>& places) const {
  NamedTensors tensors;
  for (const auto& [key, column] : values_) {
    const auto missing = static_cast<size_t>(
        std::count_if(column.begin(), column.end(), [](const Json& v) { return v.is_null(); }));
    if (missing == column.size()) continue;
    if (missing > 0) {
      throw InvalidArgument(
          "input '{}' has values for some of the instances from {} on, but not for all; give "
          "--default {}=VALUE",
          key, places[0], key);
    }
    tensors[key] = InstanceTensor(key, signature_.inputs().at(key), column, places);
  }
  return tensors;
}

CsvDefaultFiller::CsvDefaultFiller(std::vector<std::string> columns, DefaultTexts defaults)
    : columns_(std::move(columns)), defaults_(std::move(defaults)) {
  for (const auto& [name, value] : defaults_) {
    if (std::find(columns_.begin(), columns_.end(), name) == columns_.end()) {
      throw InvalidArgument("--default {}: there is no such column{}", name,
                            DidYouMeanOneOf(name, columns_));
    }
  }
}

std::string CsvDefaultFiller::Fill(const std::string& line, const std::string& place) {
  const std::vector<std::string_view>& fields = splitter_.Split(line);
  if (fields.size() != columns_.size()) {
    throw InvalidArgument("{} has {} columns instead of {}", place, fields.size(), columns_.size());
  }
  std::vector<std::string> filled;
  for (size_t i = 0; i < fields.size(); ++i) {
    const auto found = fields[i].empty() ? defaults_.find(columns_[i]) : defaults_.end();
    filled.push_back(CsvField(found == defaults_.end() ? std::string(fields[i]) : found->second));
  }
  return fmt::format("{}", fmt::join(filled, ","));
}

}  // namespace sextant::cli

#include "sextant/cli/train/instance_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"
#include "sextant/base/parse_number.h"
#include "sextant/formats/csv_field.h"
#include "sextant/formats/json_tensor.h"

namespace sextant::cli {

std::vector<JsonInput> JsonInputsOf(const Signature& signature) {
  std::vector<JsonInput> inputs;
  for (const auto& [key, input] : signature.inputs()) {
    inputs.push_back({key, input.dtype, input.shape, input.optional});
  }
  return inputs;
}

void AppendField(const std::string& key, const SignatureTensor& input, const std::string& field,
                 const std::string& place, JsonTensorBuilder* builder) {
  if (input.dtype == DType::kString) return builder->String(field);
  if (field.empty()) {
    throw InvalidArgument(
        "{}: column '{}' is empty and has no default; give one with --default {}=VALUE", place, key,
        key);
  }
  int64_t integer = 0;
  double number = 0;
  try {
    if (ParseNumber(field, &integer)) return builder->Integer(integer);
    if (ParseNumber(field, &number)) return builder->Real(number);
  } catch (const Error& error) {
    throw error.WithPrefix(fmt::format("{}: column '{}': ", place, key));
  }
  throw InvalidArgument("{}: column '{}' holds '{}', which is no {}", place, key, field,
                        DTypeName(input.dtype));
}

namespace {

// REQUIRES: there is one.
void AppendDefaultElement(const std::string& key, const SignatureTensor& input,
                          const DefaultTexts& defaults, JsonTensorBuilder* builder) {
  const auto given = defaults.find(key);
  if (given != defaults.end()) {
    return AppendField(key, input, given->second, "--default", builder);
  }
  const Tensor& own = input.default_value;
  if (own.dtype() == DType::kString) {
    builder->String(own.flat<std::string>()[0]);
  } else if (own.dtype() == DType::kBool) {
    builder->Bool(own.flat<bool>()[0]);
  } else if (IsInteger(own.dtype())) {
    builder->Integer(static_cast<int64_t>(own.AsDouble()));
  } else {
    builder->Real(own.AsDouble());
  }
}

}  // namespace

bool AppendDefault(const std::string& key, const SignatureTensor& input,
                   const DefaultTexts& defaults, JsonTensorBuilder* builder) {
  const bool has_default = defaults.contains(key) ||
                           (input.default_value.valid() && input.default_value.num_elements() == 1);
  if (!has_default && input.optional) return false;
  if (!has_default) {
    throw InvalidArgument("there is no value for input '{}'; give one with --default {}=VALUE", key,
                          key);
  }
  const int depth = std::max(0, builder->rank());  // other instances may say [3] for 3
  for (int i = 0; i < depth; ++i) builder->StartList();
  AppendDefaultElement(key, input, defaults, builder);
  for (int i = 0; i < depth; ++i) builder->EndList();
  return true;
}

InstanceColumns::InstanceColumns(const Signature& signature, const DefaultTexts& defaults)
    : signature_(signature), defaults_(defaults) {
  for (const auto& [key, input] : signature.inputs()) builders_.emplace(key, input.dtype);
}

void InstanceColumns::Add(const std::string& key, const std::string& field,
                          const std::string& place) {
  const SignatureTensor& input = signature_.inputs().at(key);
  JsonTensorBuilder* builder = &builders_.at(key);
  const bool has_default = field.empty() && (input.optional || defaults_.contains(key));
  if (!has_default) return AppendField(key, input, field, place, builder);
  AppendDefault(key, input, defaults_, builder);
}

NamedTensors InstanceColumns::Take(const std::vector<std::string>& places) {
  NamedTensors tensors;
  for (auto& [key, builder] : builders_) {
    if (builder.num_values() == 0) continue;
    if (builder.num_values() != static_cast<int64_t>(places.size())) {
      throw InvalidArgument(
          "input '{}' has values for some of the instances from {} on, but not for all; give "
          "--default {}=VALUE",
          key, places[0], key);
    }
    tensors[key] = builder.TakeRows(signature_.inputs().at(key).shape);
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
    filled.push_back(CsvField(found == defaults_.end() ? fields[i] : found->second));
  }
  return fmt::format("{}", fmt::join(filled, ","));
}

}  // namespace sextant::cli

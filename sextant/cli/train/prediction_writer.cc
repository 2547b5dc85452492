#include "sextant/cli/train/prediction_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"

namespace sextant::cli {
namespace {

using Json = nlohmann::json;

std::string Quoted(std::string_view text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <typename T>
std::string NumberText(T value, PredictionFormat format) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value)) {
      const char* text = std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
      return format == PredictionFormat::kJson ? Quoted(text) : text;
    }
    // The table shows all digits of the double that a float is.
    if (format == PredictionFormat::kTable) return fmt::format("{}", static_cast<double>(value));
  }
  return fmt::format("{}", value);
}

std::string ElementText(const Tensor& tensor, int64_t i, PredictionFormat format) {
  switch (tensor.dtype()) {
    case DType::kFloat:
      return NumberText(tensor.data<float>()[i], format);
    case DType::kDouble:
      return NumberText(tensor.data<double>()[i], format);
    case DType::kInt32:
      return NumberText(tensor.data<int32_t>()[i], format);
    case DType::kInt64:
      return NumberText(tensor.data<int64_t>()[i], format);
    case DType::kBool:
      return tensor.data<bool>()[i] ? "true" : "false";
    case DType::kString: {
      const std::string& text = tensor.data<std::string>()[i];
      return format == PredictionFormat::kCsv ? text : Quoted(text);
    }
    default:
      throw Unimplemented("outputs of type {} cannot be printed", DTypeName(tensor.dtype()));
  }
}

// Elements [begin, end) as nested lists of these dimensions.
std::string ListText(const Tensor& tensor, std::span<const int64_t> dims, int64_t begin,
                     int64_t end, PredictionFormat format) {
  if (dims.empty()) return ElementText(tensor, begin, format);
  std::vector<std::string> items;
  const int64_t size = dims[0] > 0 ? (end - begin) / dims[0] : 0;
  for (int64_t i = 0; i < dims[0]; ++i) {
    items.push_back(
        ListText(tensor, dims.subspan(1), begin + i * size, begin + (i + 1) * size, format));
  }
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string RowText(const Tensor& tensor, int64_t row, PredictionFormat format) {
  const int64_t size = tensor.num_elements() / tensor.dim(0);
  // A column of CSV holds a single number without brackets.
  if (format == PredictionFormat::kCsv && size == 1) return ElementText(tensor, row, format);
  return ListText(tensor, tensor.shape().dims().subspan(1), row * size, (row + 1) * size, format);
}

bool HasRows(const Tensor& tensor, int64_t count) {
  return tensor.rank() > 0 && tensor.dim(0) == count;
}

}  // namespace

std::string CsvField(std::string text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

PredictionFormat PredictionFormatByName(const std::string& name) {
  if (name == "table") return PredictionFormat::kTable;
  if (name == "json") return PredictionFormat::kJson;
  if (name == "csv") return PredictionFormat::kCsv;
  throw InvalidArgument("the output must be table, json or csv, not {}", name);
}

PredictionWriter::PredictionWriter(PredictionFormat format, std::vector<std::string> keys,
                                   std::function<void(std::string_view)> sink)
    : format_(format), keys_(std::move(keys)), sink_(std::move(sink)) {}

void PredictionWriter::Begin(const NamedTensors& outputs, int64_t count) {
  begun_ = true;
  for (const std::string& key : keys_) {
    const auto found = outputs.find(key);
    std::vector<std::string> names;
    for (const auto& [name, value] : outputs) names.push_back(name);
    if (found == outputs.end()) {
      throw InvalidArgument("the model predicts no '{}'{}", key, DidYouMeanOneOf(key, names));
    }
    if (!HasRows(found->second, count)) {
      throw InvalidArgument("output '{}' is {}: it has not one row for each of {} instances", key,
                            found->second.Describe(), count);
    }
  }
  if (keys_.empty()) {
    for (const auto& [key, value] : outputs) {
      if (HasRows(value, count)) keys_.push_back(key);
    }
  }
  if (format_ == PredictionFormat::kCsv) {
    std::vector<std::string> heading;
    for (const std::string& key : keys_) heading.push_back(CsvField(key));
    sink_(fmt::format("{}\n", fmt::join(heading, ",")));
  }
  if (format_ != PredictionFormat::kTable) return;
  std::string heading;
  for (const std::string& key : keys_) {
    size_t width = key.size();
    for (int64_t i = 0; i < count; ++i) {
      width = std::max(width, RowText(outputs.at(key), i, format_).size());
    }
    widths_.push_back(width);
    std::string name = key;
    std::transform(name.begin(), name.end(), name.begin(), ::toupper);
    heading += fmt::format("{:<{}}  ", name, width);
  }
  sink_(heading.substr(0, heading.find_last_not_of(' ') + 1) + "\n");
}

void PredictionWriter::Write(const NamedTensors& outputs, int64_t count) {
  if (!begun_) Begin(outputs, count);
  std::string text;
  for (int64_t row = 0; row < count; ++row) {
    std::string line;
    for (size_t i = 0; i < keys_.size(); ++i) {
      const std::string value = RowText(outputs.at(keys_[i]), row, format_);
      if (format_ == PredictionFormat::kTable) {
        line += fmt::format("{:<{}}  ", value, widths_[i]);
      } else if (format_ == PredictionFormat::kCsv) {
        line += (i == 0 ? "" : ",") + CsvField(value);
      } else {
        line += fmt::format("{}{}: {}", i == 0 ? "{" : ", ", Quoted(keys_[i]), value);
      }
    }
    if (format_ == PredictionFormat::kTable) line.resize(line.find_last_not_of(' ') + 1);
    text += line + (format_ == PredictionFormat::kJson ? "}\n" : "\n");
  }
  sink_(text);
}

}  // namespace sextant::cli

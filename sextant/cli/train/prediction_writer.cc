#include "sextant/cli/train/prediction_writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/base/nearest_name.h"
#include "sextant/formats/csv_field.h"
#include "sextant/formats/json_tensor.h"

namespace sextant::cli {
namespace {

// The table shows all digits of the double that a float is.
Tensor WithAllDigits(const Tensor& row) {
  Tensor digits(DType::kDouble, row.shape());
  std::copy_n(row.data<float>(), row.num_elements(), digits.data<double>());
  return digits;
}

std::string RowText(const std::string& key, const Tensor& tensor, int64_t row,
                    PredictionFormat format) {
  const bool json = format == PredictionFormat::kJson;
  // By TensorFlow Serving's rule; non-finite numbers so that lines are JSON that all can read.
  const JsonStyle style{.base64 = json && key.ends_with("_bytes"), .quote_non_finite = json};
  std::string text;
  // A column of CSV holds a single value as it is.
  if (format == PredictionFormat::kCsv && tensor.num_elements() == tensor.dim(0)) {
    if (tensor.dtype() == DType::kString) return tensor.flat<std::string>()[row];
    AppendJsonRow(tensor.Reshaped(Shape{tensor.dim(0)}), row, style, &text);
  } else if (format == PredictionFormat::kTable && tensor.dtype() == DType::kFloat) {
    AppendJsonRow(WithAllDigits(tensor.Rows(row, row + 1)), 0, style, &text);
  } else {
    AppendJsonRow(tensor, row, style, &text);
  }
  return text;
}

bool HasRows(const Tensor& tensor, int64_t count) {
  return tensor.rank() > 0 && tensor.dim(0) == count;
}

}  // namespace

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
      width = std::max(width, RowText(key, outputs.at(key), i, format_).size());
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
      const std::string value = RowText(keys_[i], outputs.at(keys_[i]), row, format_);
      if (format_ == PredictionFormat::kTable) {
        line += fmt::format("{:<{}}  ", value, widths_[i]);
      } else if (format_ == PredictionFormat::kCsv) {
        line += (i == 0 ? "" : ",") + CsvField(value);
      } else {
        line += i == 0 ? "{" : ", ";
        AppendJsonString(keys_[i], &line);
        line += ": " + value;
      }
    }
    if (format_ == PredictionFormat::kTable) line.resize(line.find_last_not_of(' ') + 1);
    text += line + (format_ == PredictionFormat::kJson ? "}\n" : "\n");
  }
  sink_(text);
}

}  // namespace sextant::cli

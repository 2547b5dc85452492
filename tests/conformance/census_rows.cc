#include "tests/conformance/census_rows.h"

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/tensor_sources.h"
#include "tests/conformance/json_values.h"

namespace sextant::conformance {
namespace {

using nlohmann::json;

std::string Stripped(std::string text) {
  text.erase(0, text.find_first_not_of(' '));
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

std::vector<std::string> Split(const std::string& line) {
  std::vector<std::string> fields;
  size_t begin = 0;
  for (size_t end; (end = line.find(',', begin)) != std::string::npos; begin = end + 1) {
    fields.push_back(line.substr(begin, end - begin));
  }
  fields.push_back(line.substr(begin));
  return fields;
}

using Rows = std::vector<std::vector<std::string>>;

Rows ReadRows(const std::string& path, bool keep_blanks, int64_t skipped, size_t fields) {
  const std::string text = FileSystem::ForPath(path).ReadFile(path);
  Rows rows;
  size_t begin = 0;
  for (int64_t number = 0; begin < text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (number < skipped || line.empty()) continue;
    for (size_t at = 0; !keep_blanks && (at = line.find(", ", at)) != std::string::npos;) {
      line.erase(at + 1, 1);
    }
    rows.push_back(Split(line));
    if (rows.back().size() != fields) {
      throw DataLoss("{} line {}: {} fields, expected {}", path, number + 1, rows.back().size(),
                     fields);
    }
  }
  return rows;
}

Tensor Integers(const Rows& rows, size_t column) {
  Tensor values(DType::kInt32, Shape{static_cast<int64_t>(rows.size())});
  for (size_t i = 0; i < rows.size(); ++i) {
    values.data<int32_t>()[i] = std::stoi(rows[i][column]);
  }
  return values;
}

Tensor Texts(const Rows& rows, size_t column) {
  Tensor values(DType::kString, Shape{static_cast<int64_t>(rows.size())});
  for (size_t i = 0; i < rows.size(); ++i) values.data<std::string>()[i] = rows[i][column];
  return values;
}

// The income as text without the full stop of adult.test.
std::string Income(const std::string& field) {
  return field.ends_with('.') ? field.substr(0, field.size() - 1) : field;
}

Tensor Labels(const Rows& rows, const json& estimator, size_t hours, size_t income) {
  const auto count = static_cast<int64_t>(rows.size());
  if (estimator.at("class").get<std::string>().ends_with("Regressor")) {
    Tensor labels(DType::kFloat, Shape{count});
    for (int64_t i = 0; i < count; ++i) {
      labels.data<float>()[i] = static_cast<float>(std::stoi(rows[i][hours])) / 10.0f;
    }
    return labels;
  }
  if (!Has(estimator, "label_vocabulary")) {
    Tensor labels(DType::kInt32, Shape{count});
    for (int64_t i = 0; i < count; ++i) {
      labels.data<int32_t>()[i] = Stripped(Income(rows[i][income])) == ">50K" ? 1 : 0;
    }
    return labels;
  }
  Tensor labels(DType::kString, Shape{count});
  for (int64_t i = 0; i < count; ++i) {
    labels.data<std::string>()[i] = Income(rows[i][income]);
  }
  return labels;
}

}  // namespace

std::string CensusFolder(const std::string& given, const std::string& directory) {
  std::vector<std::string> folders;
  if (!given.empty()) {
    folders = {given};
  } else {
    for (std::string up = directory; folders.size() < 12; up += "/..") {
      folders.push_back(up);
      folders.push_back(up + "/data/census");
    }
    if (const char* data = std::getenv("SEXTANT_DATA")) {
      folders.push_back(std::string(data) + "/census");
    }
    folders.push_back(SEXTANT_SOURCE_DIR "/../shared/data/census");
  }
  for (const std::string& folder : folders) {
    if (FileSystem::ForPath(folder).Exists(folder + "/adult.test")) return folder;
  }
  throw NotFound("there is no adult.test {}; name its folder with --data",
                 given.empty() ? "near " + directory : "in " + given);
}

data::Dataset CensusRows(const std::string& path, const json& estimator, int64_t skipped_lines) {
  const json& input = estimator.at("input");
  const auto columns = input.at("columns").get<std::vector<std::string>>();
  const auto integers = input.at("integer_columns").get<std::set<std::string>>();
  const bool keep_blanks =
      input.at("parsing").get<std::string>().find("keep their leading blank") != std::string::npos;
  std::set<std::string> dropped;  // "hours_per_week (it is the label)"
  for (const json& name : input.at("dropped_columns")) {
    const auto text = name.get<std::string>();
    dropped.insert(text.substr(0, text.find(' ')));
  }
  dropped.erase(JsonOr<std::string>(estimator, "weight_column", ""));

  const Rows rows = ReadRows(path, keep_blanks, skipped_lines, columns.size());
  const auto place = [&](const char* name) {
    return static_cast<size_t>(std::find(columns.begin(), columns.end(), name) - columns.begin());
  };
  data::Element element;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (dropped.contains(columns[i])) continue;
    const bool number = integers.contains(columns[i]) || columns[i] == "fnlwgt";
    element.Set(columns[i], number ? Integers(rows, i) : Texts(rows, i));
  }
  element.Set("label", Labels(rows, estimator, place("hours_per_week"), place("income_bracket")));
  return data::FromTensorSlices(std::move(element));
}

}  // namespace sextant::conformance

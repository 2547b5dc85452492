#include "sextant/ops/lookup/vocabulary_file.h"

#include <charconv>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"

namespace sextant {
namespace {

void CheckColumn(const char* what, int64_t index, DType dtype) {
  if (index == VocabularyFileOptions::kLineNumber && dtype != DType::kInt64) {
    throw InvalidArgument("{} index for line number requires table {} dtype of int64, got {}", what,
                          what, DTypeName(dtype));
  }
  switch (dtype) {
    case DType::kString:
    case DType::kInt32:
    case DType::kInt64:
    case DType::kFloat:
    case DType::kDouble:
      return;
    default:
      throw InvalidArgument("{} cannot be read from a file of text", DTypeName(dtype));
  }
}

// The lines, without "\n" or "\r\n", at most "count" of them unless it is negative.
std::vector<std::string_view> Lines(std::string_view text, int64_t count, const std::string& path) {
  std::vector<std::string_view> lines;
  while (!text.empty() && static_cast<int64_t>(lines.size()) != count) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) {
      throw InvalidArgument("Invalid content in {}: empty line found at line {}", path,
                            lines.size());
    }
    lines.push_back(line);
  }
  if (count > 0 && static_cast<int64_t>(lines.size()) < count) {
    throw InvalidArgument("Invalid vocab_size in {}: expected {} but got {}", path, count,
                          lines.size());
  }
  if (lines.empty()) throw OutOfRange("no lines were read from {}", path);
  return lines;
}

class Column {
 public:
  Column(const std::string& path, int64_t index, DType dtype, const VocabularyFileOptions& options,
         int64_t count)
      : path_(path), index_(index), options_(options), values_(dtype, {count}) {}

  void Set(int64_t line, std::string_view text) {
    if (index_ == VocabularyFileOptions::kLineNumber) {
      values_.data<int64_t>()[line] = line + options_.offset;
      return;
    }
    const std::string_view field = index_ >= 0 ? Field(line, text) : text;
    switch (values_.dtype()) {
      case DType::kInt32:
        return SetNumber<int32_t>(line, field);
      case DType::kInt64:
        return SetNumber<int64_t>(line, field);
      case DType::kFloat:
        return SetNumber<float>(line, field);
      case DType::kDouble:
        return SetNumber<double>(line, field);
      default:
        values_.data<std::string>()[line] = field;
    }
  }
  Tensor& values() { return values_; }

 private:
  std::string_view Field(int64_t line, std::string_view text) const {
    const std::string_view whole = text;
    for (int64_t column = 0;; ++column) {
      const size_t end = text.find(options_.delimiter);
      if (column == index_) return text.substr(0, end);
      if (end == std::string_view::npos) {
        throw InvalidArgument(
            "Invalid number of columns in {} line {} ({}) : expected at least {} got {}", path_,
            line, whole, index_ + 1, column + 1);
      }
      text.remove_prefix(end + 1);
    }
  }

  template <typename T>
  void SetNumber(int64_t line, std::string_view field) {
    std::string_view text = field;
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, values_.data<T>()[line]);
    if (error != std::errc() || stop != end) {
      throw InvalidArgument("Field {} in line {} of {} is not a valid {}.", field, line, path_,
                            DTypeName(values_.dtype()));
    }
  }

  const std::string& path_;
  const int64_t index_;
  const VocabularyFileOptions& options_;
  Tensor values_;
};

}  // namespace

std::pair<Tensor, Tensor> ReadVocabularyFile(const std::string& path, DType key_dtype,
                                             DType value_dtype,
                                             const VocabularyFileOptions& options) {
  CheckColumn("Key", options.key_index, key_dtype);
  CheckColumn("Value", options.value_index, value_dtype);
  const std::string text = FileSystem::ForPath(path).ReadFile(path);
  const auto lines = Lines(text, options.vocab_size, path);
  const auto count = static_cast<int64_t>(lines.size());
  Column keys(path, options.key_index, key_dtype, options, count);
  Column values(path, options.value_index, value_dtype, options, count);
  for (int64_t i = 0; i < count; ++i) {
    keys.Set(i, lines[i]);
    values.Set(i, lines[i]);
  }
  return {std::move(keys.values()), std::move(values.values())};
}

}  // namespace sextant

// CSV text to columns, in two ways.
//
// The quick way (ParseRegular) takes text without quotes whose rows all have the right number of
// fields. It finds all separators in one pass (csv_separators.h). With w fields to a row, r rows
// have w * r separators, r of them line ends; if in addition each w-th separator is a line end,
// then all others are delimiters, and field f of row i lies between separators i * w + f - 1 and
// i * w + f. Each column is then converted in a loop of its own.
//
//   w = 2:  a,1\nb,2\n   separators 1 3 5 7: numbers 1 and 3 are line ends, so the text is regular
//
// Everything else goes the other way, row by row, by the rules of formats/csv.h: quotes, blank
// lines, rows of another length, and values that do not convert, so that messages are made in one
// place. csv_fuzz compares the two.
#include "sextant/data/parse_csv.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/data/csv_field.h"
#include "sextant/data/csv_separators.h"

namespace sextant::data {
namespace {

template <typename Fn>
auto WithType(DType dtype, Fn fn) {
  switch (dtype) {
    case DType::kInt32:
      return fn(int32_t());
    case DType::kInt64:
      return fn(int64_t());
    case DType::kFloat:
      return fn(float());
    case DType::kDouble:
      return fn(double());
    default:
      return fn(std::string());
  }
}

bool IsColumnType(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kFloat ||
         dtype == DType::kDouble || dtype == DType::kString;
}

void CheckColumn(const CsvColumn& column) {
  if (!IsColumnType(column.dtype)) {
    throw InvalidArgument(
        "Csv: column '{}' cannot be {}; string, int32, int64, float and double can be", column.name,
        DTypeName(column.dtype));
  }
  const std::optional<Tensor>& value = column.default_value;
  if (value && (value->dtype() != column.dtype || value->num_elements() != 1)) {
    throw InvalidArgument("Csv: the default of column '{}' must be one {}, got {}", column.name,
                          DTypeName(column.dtype), value->Describe());
  }
}

// "abc" as it is written in messages, not longer than a line.
std::string Shown(std::string_view field) {
  constexpr size_t kMost = 60;
  return fmt::format("\"{}\"{}", field.substr(0, kMost), field.size() > kMost ? "..." : "");
}

}  // namespace

CsvParser::CsvParser(const CsvFileOptions& options)
    : options_(options),
      splitter_({.delimiter = options.delimiter, .quotes = options.quotes, .columns = {}}) {
  if (options.columns.empty()) throw InvalidArgument("Csv: no columns are given");
  if (options.delimiter == '\n' || options.delimiter == '\r' || options.delimiter == '"') {
    throw InvalidArgument("Csv: a line end or a quote cannot be the delimiter");
  }
  for (const CsvColumn& column : options.columns) {
    CheckColumn(column);
    if (std::ranges::count(options.columns, column.name, &CsvColumn::name) > 1) {
      throw InvalidArgument("Csv: there are two columns '{}'", column.name);
    }
  }
  width_ = options.columns.size();
  const auto add = [&](auto it) {
    columns_.push_back(*it);
    source_.push_back(static_cast<int>(it - options.columns.begin()));
  };
  for (const std::string& name : options.select) {
    const auto it = std::ranges::find(options.columns, name, &CsvColumn::name);
    if (it == options.columns.end()) {
      throw InvalidArgument("Csv: column '{}' is selected, but is not one of the columns", name);
    }
    add(it);
  }
  if (!options.select.empty()) return;
  for (auto it = options.columns.begin(); it != options.columns.end(); ++it) add(it);
}

void CsvParser::SetHeader(std::string_view row) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  const std::vector<std::string_view>& names = splitter_.Split(row);
  for (size_t c = 0; c < columns_.size(); ++c) {
    const auto it = std::ranges::find(names, columns_[c].name);
    if (it == names.end()) {
      throw InvalidArgument("the header has no column '{}': {}", columns_[c].name, Shown(row));
    }
    source_[c] = static_cast<int>(it - names.begin());
  }
  width_ = names.size();
}

void CsvParser::Parse(std::string_view text, const CutRows& cut, int64_t line,
                      std::span<void* const> outs) {
  if (ParseRegular(text, static_cast<size_t>(cut.rows), outs)) return;
  size_t begin = 0;
  for (int64_t index = 0; begin < text.size();) {
    const std::string_view rest = text.substr(begin);
    const std::string_view row =
        rest.substr(0, CsvRowEnd(rest, options_.delimiter, options_.quotes));
    const size_t end = std::min(begin + row.size() + 1, text.size());
    if (!IsBlankRow(row)) {
      try {
        ParseRow(row, index++, outs);
      } catch (const Error& e) {
        bad_row_ = index - 1;
        bad_row_end_ = end;
        const int64_t before = std::ranges::count(text.substr(0, begin), '\n');
        throw e.WithPrefix(line > 0 ? fmt::format("line {}", line + before) : "row");
      }
    }
    begin = end;
  }
}

bool CsvParser::ParseRegular(std::string_view text, size_t rows, std::span<void* const> outs) {
  if (text.empty() || text.size() > UINT32_MAX) return false;
  if (positions_.size() <= text.size()) positions_.resize(text.size() + 1);
  CsvMarks marks;
  size_t found = FindSeparators(text, options_.delimiter, positions_.data(), &marks);
  if (options_.quotes && marks.quotes) return false;
  const bool open_end = text.back() != '\n';
  if (open_end) positions_[found++] = static_cast<uint32_t>(text.size());
  // As many separators as rows of this width have, as many line ends as rows, and those at the ends
  // of the rows: then all others are delimiters.
  if (found != rows * width_ || marks.lines + open_end != rows) return false;
  for (size_t end = width_ - 1; end + 1 < found; end += width_) {
    if (text[positions_[end]] != '\n') return false;
  }
  const std::string_view na_value = options_.na_value;
  for (size_t c = 0; c < columns_.size(); ++c) {
    const bool whole = WithType(columns_[c].dtype, [&]<typename T>(T) {
      T* const out = static_cast<T*>(outs[c]);
      const T* const default_value =
          columns_[c].default_value ? columns_[c].default_value->data<T>() : nullptr;
      const auto column = static_cast<size_t>(source_[c]);
      const bool last = column + 1 == width_;
      const uint32_t* ends = &positions_[column];
      for (size_t row = 0; row < rows; ++row, ends += width_) {
        const size_t begin = row + column == 0 ? 0 : ends[-1] + size_t{1};
        std::string_view field(text.data() + begin, *ends - begin);
        if (last && field.ends_with('\r')) field.remove_suffix(1);
        if (field.empty() || field == na_value) {
          if (default_value == nullptr) return false;
          out[row] = *default_value;
        } else if (!ParseField(field, &out[row])) {
          return false;
        }
      }
      return true;
    });
    if (!whole) return false;
  }
  return true;
}

const std::vector<std::string_view>& CsvParser::SplitRow(std::string_view row) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  if (options_.quotes && row.find('"') != std::string_view::npos) return splitter_.Split(row);
  fields_.clear();
  for (size_t begin = 0;;) {
    const size_t end = row.find(options_.delimiter, begin);
    fields_.push_back(row.substr(begin, end - begin));
    if (end == std::string_view::npos) return fields_;
    begin = end + 1;
  }
}

void CsvParser::ParseRow(std::string_view row, int64_t index, std::span<void* const> outs) {
  const std::vector<std::string_view>* fields;
  try {
    fields = &SplitRow(row);
  } catch (const Error& e) {
    throw e.WithPrefix(": ");
  }
  if (fields->size() != width_) {
    throw InvalidArgument(": expected {} fields, found {}: {}", width_, fields->size(), Shown(row));
  }
  for (size_t c = 0; c < columns_.size(); ++c) {
    const CsvColumn& column = columns_[c];
    const std::string_view field = (*fields)[static_cast<size_t>(source_[c])];
    WithType(column.dtype, [&]<typename T>(T) {
      T& out = static_cast<T*>(outs[c])[index];
      if (field.empty() || field == options_.na_value) {
        if (!column.default_value) {
          throw InvalidArgument(", column '{}': expected {}, found an empty field and no default",
                                column.name, DTypeName(column.dtype));
        }
        out = *column.default_value->data<T>();
      } else if (!ParseField(field, &out)) {
        throw InvalidArgument(", column '{}': expected {}, found {}", column.name,
                              DTypeName(column.dtype), Shown(field));
      }
    });
  }
}

}  // namespace sextant::data

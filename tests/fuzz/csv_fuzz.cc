// libFuzzer target: bytes are split as a CSV record, and the fields are read as numbers; and they
// are parsed as a file of rows. The first byte says how. A finding is a memory error, fields that
// the record does not hold, fields that quoted and joined again are split otherwise, or rows that
// parsed together are not what they are one by one.
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/parse_number.h"
#include "sextant/data/csv_row_cutter.h"
#include "sextant/data/parse_csv.h"
#include "sextant/formats/csv.h"
#include "tests/fuzz/finding.h"

namespace sextant::fuzz {
namespace {

template <typename T>
void ReadNumber(std::string_view field) {
  T value;
  if (ParseNumber(field, &value)) {
    const std::string padded = " " + std::string(field) + "\t";
    T again;
    if (!ParseNumber(padded, &again) || (!(again == value) && value == value))
      Report("spaces change a number");
  }
}

void Check(CsvOptions options, std::string_view record) {
  CsvSplitter splitter(options), second(options);
  const std::vector<std::string_view>& fields = splitter.Split(record);
  std::string joined;
  for (const std::string_view field : fields) {
    ReadNumber<int32_t>(field);
    ReadNumber<int64_t>(field);
    ReadNumber<float>(field);
    ReadNumber<double>(field);
    if (!joined.empty()) joined += options.delimiter;
    joined += '"';
    for (const char c : field) joined += c == '"' ? "\"\"" : std::string(1, c);
    joined += '"';
  }
  if (!options.columns.empty() || !options.quotes || options.delimiter == '"') return;
  if (second.Split(joined) != fields) Report("fields quoted and joined are split otherwise");
}

// The columns of rows, or none when one of them is bad; *bad is then where the text goes on.
std::optional<std::vector<Tensor>> ParseRows(data::CsvParser& parser, std::string_view text,
                                             const data::CutRows& cut, size_t* bad) {
  std::vector<Tensor> tensors;
  std::vector<void*> outs;
  for (const data::CsvColumn& column : parser.columns()) {
    tensors.push_back(Tensor::Zeros(column.dtype, {cut.rows}));
    outs.push_back(tensors.back().raw_data());
  }
  try {
    parser.Parse(text, cut, 1, outs);
  } catch (const Error& e) {
    if (e.code() != Code::kInvalidArgument) Report(e.what());
    *bad = parser.bad_row_end();
    if (*bad > text.size() || parser.bad_row() >= cut.rows) Report("a bad row outside the text");
    return std::nullopt;
  }
  return tensors;
}

// Of a row without quotes: what stands between its delimiters.
std::vector<std::string> PlainFields(std::string_view row, char delimiter) {
  if (row.ends_with('\r')) row.remove_suffix(1);
  std::vector<std::string> fields(1);
  for (const char c : row) {
    if (c == delimiter) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

void CheckRows(const CsvOptions& split, bool numbers, std::string_view text) {
  const data::CsvFileOptions options = {.columns = {{"a", numbers ? DType::kInt32 : DType::kString,
                                                     numbers ? Tensor(int32_t{0}) : Tensor("")},
                                                    {"b", numbers ? DType::kFloat : DType::kString,
                                                     numbers ? Tensor(0.0f) : Tensor("")},
                                                    {"c", DType::kString, Tensor("")}},
                                        .delimiter = split.delimiter,
                                        .quotes = split.quotes};
  data::CsvParser parser(options);
  const data::CutRows all = data::CutCsvRows(text, static_cast<int64_t>(text.size()),
                                             options.delimiter, options.quotes, true);
  if (all.bytes != text.size()) Report("rows that do not make up the text");
  size_t bad = 0, begin = 0;
  const auto whole = ParseRows(parser, text, all, &bad);
  for (int64_t row = 0; begin < text.size(); ++row) {
    const std::string_view rest = text.substr(begin);
    const data::CutRows one = data::CutCsvRows(rest, 1, options.delimiter, options.quotes, true);
    if (one.rows == 0) break;
    const std::string_view piece = rest.substr(0, one.bytes);
    size_t unused;
    const auto single = ParseRows(parser, piece, one, &unused);
    if (whole && !single) Report("a row is bad by itself only");
    if (!whole && !single) return;  // the first bad one
    for (size_t c = 0; whole && c < single->size(); ++c) {
      if (!(*single)[c].Identical((*whole)[c].Rows(row, row + 1).Clone()))
        Report("a row has other values by itself");
    }
    if (!numbers && piece.find('"') == std::string_view::npos) {
      std::string_view line = piece.substr(0, piece.find('\n'));
      for (size_t end = 0; data::IsBlankRow(line); line = line.substr(0, line.find('\n'))) {
        end = piece.find('\n', end) + 1;
        line = piece.substr(end);
      }
      const std::vector<std::string> fields = PlainFields(line, options.delimiter);
      for (size_t c = 0; c < fields.size(); ++c) {
        if ((*single)[c].data<std::string>()[0] != fields[c])
          Report("another field than the row has");
      }
    }
    begin += one.bytes;
  }
  if (!whole && begin >= text.size()) Report("a row is bad among others only");
}

}  // namespace
}  // namespace sextant::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  sextant::CsvOptions options;
  if (data[0] & 1) options.quotes = false;
  if (data[0] & 2) options.delimiter = static_cast<char>(data[0]);
  if (data[0] & 4) options.columns = {1, 2, 5};
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (options.delimiter != '"' && options.delimiter != '\n' && options.delimiter != '\r') {
    sextant::fuzz::CheckRows(options, data[0] & 8, text);
  }
  try {
    sextant::fuzz::Check(options, text);
  } catch (const sextant::Error& e) {
    if (e.code() != sextant::Code::kInvalidArgument) sextant::fuzz::Report(e.what());
  }
  return 0;
}

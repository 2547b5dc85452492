// CsvParser: parses rows of CSV text into the columns of a batch.
//
// Text without quotes whose rows all have the right number of fields is split in one pass and
// converted column by column. All other text, also with bad fields, is parsed row by row by the
// rules of formats/csv.h, which also gives the error messages.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/data/csv_row_cutter.h"
#include "sextant/data/sources.h"
#include "sextant/formats/csv.h"

namespace sextant::data {

// Used by one thread at a time; copies are independent.
class CsvParser {
 public:
  // Throws INVALID_ARGUMENT when the options contradict each other.
  explicit CsvParser(const CsvFileOptions& options);

  // Those wanted, in their order: the fields of the elements.
  const std::vector<CsvColumn>& columns() const { return columns_; }

  // Takes the first row of a file for the names of its columns. Throws INVALID_ARGUMENT when one is
  // not there.
  void SetHeader(std::string_view row);

  // Parses text cut by CutCsvRows. outs[c] is where the value of columns()[c] in the first row
  // goes; those of further rows follow. Throws INVALID_ARGUMENT about the first bad row, with its
  // line, counting the first one of the text as "line" (0: lines are not named), and column;
  // bad_row() and bad_row_end() are then its number in the text and where the text goes on behind
  // it. The rows before it are parsed.
  void Parse(std::string_view text, const CutRows& cut, int64_t line, std::span<void* const> outs);
  // Parses text of this many rows, each on a line of its own with a line end behind it. False, and
  // the values are not to be used, when there is more to them (a quote, say) or one is bad.
  bool ParseLines(std::string_view text, int64_t rows, std::span<void* const> outs) {
    return ParseRegular(text, static_cast<size_t>(rows), outs);
  }
  int64_t bad_row() const { return bad_row_; }
  size_t bad_row_end() const { return bad_row_end_; }

 private:
  bool ParseRegular(std::string_view text, size_t rows, std::span<void* const> outs);
  void ParseRow(std::string_view row, int64_t index, std::span<void* const> outs);
  const std::vector<std::string_view>& SplitRow(std::string_view row);

  const CsvFileOptions options_;
  std::vector<CsvColumn> columns_;
  std::vector<int> source_;  // of each of columns_: its place in the rows of the file
  size_t width_ = 0;         // fields of a row
  CsvSplitter splitter_;
  std::vector<uint32_t> positions_;       // of separators
  std::vector<std::string_view> fields_;  // of a row without quotes
  int64_t bad_row_ = 0;
  size_t bad_row_end_ = 0;
};

}  // namespace sextant::data

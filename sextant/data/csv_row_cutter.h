// Where the rows of CSV text end: at line ends that are not inside a quoted field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sextant::data {

// Where the line end of the first row stands, or npos.
size_t CsvRowEnd(std::string_view text, char delimiter, bool quotes);

// Nothing, or what is left of "\r\n".
inline bool IsBlankRow(std::string_view row) { return row.empty() || row == "\r"; }

struct CutRows {
  int64_t rows = 0;   // blank ones not counted
  size_t bytes = 0;   // of them, with their line ends and blank lines around them
  int64_t lines = 0;  // line ends in these bytes
};

// The first whole rows of the text, at most "count". "last" says that nothing follows the text:
// what is left behind the last line end is a row too, also when a quote in it is not closed.
CutRows CutCsvRows(std::string_view text, int64_t count, char delimiter, bool quotes, bool last);

}  // namespace sextant::data

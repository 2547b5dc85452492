#include "sextant/data/csv_row_cutter.h"

#include <algorithm>

namespace sextant::data {
namespace {

constexpr size_t kNone = std::string_view::npos;

}  // namespace

size_t CsvRowEnd(std::string_view text, char delimiter, bool quotes) {
  const size_t line_end = text.find('\n');
  if (!quotes || text.substr(0, line_end).find('"') == kNone) return line_end;
  bool field_begins = true;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"' && field_begins) {
      // To the quote that closes: doubled ones belong to the field.
      do {
        i = text.find('"', i + 1);
        if (i == kNone) return kNone;
        ++i;
      } while (i < text.size() && text[i] == '"');
      if (i == text.size()) return kNone;
    }
    if (text[i] == '\n') return i;
    field_begins = text[i] == delimiter;
  }
  return kNone;
}

CutRows CutCsvRows(std::string_view text, int64_t count, char delimiter, bool quotes, bool last) {
  CutRows cut;
  while (cut.bytes < text.size()) {
    const std::string_view rest = text.substr(cut.bytes);
    size_t end = CsvRowEnd(rest, delimiter, quotes);
    if (end == kNone) {
      if (!last) return cut;
      end = rest.size();
    }
    const std::string_view row = rest.substr(0, end);
    const bool blank = IsBlankRow(row);
    if (!blank && cut.rows == count) return cut;
    cut.rows += !blank;
    cut.lines += end < rest.size();
    if (quotes && row.find('"') != kNone) cut.lines += std::ranges::count(row, '\n');
    cut.bytes += std::min(end + 1, rest.size());
  }
  return cut;
}

}  // namespace sextant::data

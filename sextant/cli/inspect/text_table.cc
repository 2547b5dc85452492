#include "sextant/cli/inspect/text_table.h"

#include <algorithm>

#include "sextant/cli/json_writer.h"

namespace sextant::cli {

void TextTable::Print(std::ostream& out) const {
  if (rows_.size() < 2) return;
  const size_t columns = rows_[0].size();
  std::vector<size_t> widths(columns, 0);
  for (size_t i = 1; i < rows_.size(); ++i) {
    for (size_t k = 0; k < columns; ++k) widths[k] = std::max(widths[k], rows_[i][k].size());
  }
  for (size_t k = 0; k < columns; ++k) {
    if (widths[k] > 0) widths[k] = std::max(widths[k], rows_[0][k].size());
  }
  for (const auto& row : rows_) {
    std::string line;
    for (size_t k = 0; k < columns; ++k) {
      if (widths[k] == 0) continue;
      line += "  " + row[k];
      line.append(widths[k] - std::min(widths[k], row[k].size()), ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
}

std::string Shortened(std::string_view text, size_t limit) {
  std::string result(text.substr(0, limit));
  if (text.size() > limit) {
    while (!result.empty() && !IsPrintable(result)) result.pop_back();  // half a character
    result += "...";
  }
  std::replace_if(
      result.begin(), result.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return result;
}

}  // namespace sextant::cli

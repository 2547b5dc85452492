#include "sextant/cli/inspect/text_table.h"

#include <algorithm>

#include "sextant/base/printable.h"

namespace sextant::cli {

void TextTable::AddRow(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = ShownName(cell);
  rows_.push_back(std::move(cells));
}

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
  const bool whole = text.size() <= limit;
  if (!whole) {
    while (limit > 0 && (text[limit] & 0xc0) == 0x80) --limit;  // no half character
    text = text.substr(0, limit);
  }
  std::string line(text);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return Printable(line) + (whole ? "" : "...");
}

}  // namespace sextant::cli

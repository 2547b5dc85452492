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

}  // namespace sextant::cli

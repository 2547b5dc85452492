// A table on the terminal: columns as wide as they must be, two spaces between.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::cli {

class TextTable {
 public:
  explicit TextTable(std::vector<std::string> heading) : rows_{std::move(heading)} {}
  // As many cells as the heading has; they are escaped, and cut where they are very long.
  void AddRow(std::vector<std::string> cells);
  // Columns that are empty in all rows are left out; no heading without rows.
  void Print(std::ostream& out) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// The text on one line, cut with "..." at so many bytes; control characters are escaped.
std::string Shortened(std::string_view text, size_t limit = 60);

}  // namespace sextant::cli

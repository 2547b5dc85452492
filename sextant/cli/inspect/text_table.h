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

}  // namespace sextant::cli

// Writing CSV.
#pragma once

#include <string>
#include <string_view>

namespace sextant {

// A field of CSV, in quotes where it must be.
inline std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

}  // namespace sextant

// Finds the delimiters and line ends of CSV text by SIMD.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sextant::data {

// What else is in the text.
struct CsvMarks {
  size_t lines = 0;     // line ends
  bool quotes = false;  // whether there is a '"'
};

// Writes the positions of all delimiters and line ends ('\n') to "positions" and returns their
// number. REQUIRES: room for text.size() positions; text.size() < 2^32.
size_t FindSeparators(std::string_view text, char delimiter, uint32_t* positions, CsvMarks* marks);

}  // namespace sextant::data

// Finds the bytes that structure CSV text, many at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sextant::data {

// Writes the positions of all delimiters and line ends ('\n') to "positions" and returns their
// number. REQUIRES: room for text.size() positions; text.size() < 2^32.
size_t FindSeparators(std::string_view text, char delimiter, uint32_t* positions);

}  // namespace sextant::data

// Numbers from text, whatever the locale, by TensorFlow's rules.
//
// Spaces around the number are ignored. Integers are decimal digits with an optional minus. Reals
// are decimal, with an optional sign and exponent, "inf" or "nan" in any case, or a hexadecimal
// integer "0x1F"; they are rounded to nearest, to infinity or zero where they are out of range.
// Subnormal floats (not doubles) become zero, and text of spaces only is the real number 0.
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/base/export.h"

namespace sextant {

// These return false, and leave *value as it was, when the text is not a number or not in range.
[[nodiscard]] bool ParseNumber(std::string_view text, int32_t* value);
[[nodiscard]] SEXTANT_API bool ParseNumber(std::string_view text, int64_t* value);
[[nodiscard]] bool ParseNumber(std::string_view text, float* value);
[[nodiscard]] bool ParseNumber(std::string_view text, double* value);

}  // namespace sextant

// StringLength, Substr: lengths and parts of strings, in bytes or in characters of UTF-8.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

enum class StringUnit { kByte, kUtf8Char };

// Number of units of each element, as int32. Bytes that are not UTF-8 count as characters.
Output StringLength(Output x, StringUnit unit = StringUnit::kByte);
// At most "len" units of each element from "pos" on; a negative pos counts from the end. pos and
// len have the same shape, broadcast with x. A pos outside of the string is an error.
Output Substr(Output x, Output pos, Output len, StringUnit unit = StringUnit::kByte);

}  // namespace sextant

#pragma GCC visibility pop

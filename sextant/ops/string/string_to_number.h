// StringToNumber: numbers from text.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Each element as a float, double, int32 or int64 (sextant/base/parse_number.h says what counts as
// a number). Other text is an error.
Output StringToNumber(Output x, DType out_type = DType::kFloat);

}  // namespace sextant

#pragma GCC visibility pop

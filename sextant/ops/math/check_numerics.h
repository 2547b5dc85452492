// CheckNumerics: an error where a tensor has NaN or infinity.
#pragma once

#include <string_view>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// x itself; running fails with INVALID_ARGUMENT and the message when an element is infinite or NaN.
Output CheckNumerics(Output x, std::string_view message);

}  // namespace sextant

#pragma GCC visibility pop

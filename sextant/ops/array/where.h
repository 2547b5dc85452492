// Where: the indices of true elements.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// One row per element of "condition" that is true (not zero), in row-major order: its position.
Output Where(Output condition);

}  // namespace sextant

#pragma GCC visibility pop

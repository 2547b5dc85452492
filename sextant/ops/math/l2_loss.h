// L2Loss: half the sum of squares.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// sum(t^2) / 2, a scalar
Output L2Loss(Output t);

}  // namespace sextant

#pragma GCC visibility pop

// ZeroFraction: how sparse activations are.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// The share of the elements that are 0, a scalar float. NaN when there are none.
Output ZeroFraction(Output x);

}  // namespace sextant

#pragma GCC visibility pop

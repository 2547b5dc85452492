// AddN, AccumulateNV2: sums of many tensors of one shape.
#pragma once

#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// The sum of all inputs, added from the first to the last; lists of tensors (variants) are added
// element by element.
Output AddN(const std::vector<Output>& inputs);
// The same for inputs that are known to have this shape.
Output AccumulateNV2(const std::vector<Output>& inputs, const PartialShape& shape);

}  // namespace sextant

#pragma GCC visibility pop

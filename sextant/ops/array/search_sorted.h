// LowerBound, UpperBound, Bucketize: binary search of values in sorted rows and in lists of
// boundaries.
#pragma once

#include <vector>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Per row and value: the number of elements of the sorted row that are less than it.
Output LowerBound(Output sorted_rows, Output values, DType out_type = DType::kInt32);
// ... that are not greater than it.
Output UpperBound(Output sorted_rows, Output values, DType out_type = DType::kInt32);
// Per element the number of boundaries that are not greater than it.
Output Bucketize(Output x, const std::vector<float>& boundaries);

}  // namespace sextant

#pragma GCC visibility pop

// Concat, ConcatOffset, Split: joining tensors along a dimension and splitting one along a
// dimension.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// The values one after another along "axis"; their other sizes must agree. One value is given back
// as it is.
Output Concat(const std::vector<Output>& values, const IndexArg& axis);
// Where each of tensors of these shapes starts in their concatenation.
std::vector<Output> ConcatOffset(Output axis, const std::vector<Output>& shapes);
// "num" equal parts of x along "axis".
std::vector<Output> Split(Output x, int64_t num, const IndexArg& axis);
// Parts of these sizes along "axis"; one may be -1: what is left over.
std::vector<Output> Split(Output x, const std::vector<int64_t>& sizes, const IndexArg& axis);

}  // namespace sextant

#pragma GCC visibility pop

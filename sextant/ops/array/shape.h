// Shape, ShapeN, Size, Rank, Reshape, Squeeze, ExpandDims: shapes as tensors, and the same elements
// under another shape.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// The shape of x as an integer vector (op Shape).
Output ShapeOf(Output x, DType out_type = DType::kInt32);
std::vector<Output> ShapeN(const std::vector<Output>& xs, DType out_type = DType::kInt32);
// Number of elements.
Output Size(Output x, DType out_type = DType::kInt32);
// Number of dimensions.
Output Rank(Output x);

// The elements of x, in order, under another shape; one size may be -1: what is left over.
Output Reshape(Output x, const IndexArg& shape);
// x without its dimensions of size 1, or without those at "axes".
Output Squeeze(Output x, const std::vector<int64_t>& axes = {});
// x with a dimension of size 1 inserted at "axis" in [-rank - 1, rank].
Output ExpandDims(Output x, const IndexArg& axis);

}  // namespace sextant

#pragma GCC visibility pop

// RaggedTensorToSparse, RaggedTensorToTensor: rows of different lengths, kept as their values one
// after the other and where each row begins.
#pragma once

#include <vector>

#include "sextant/graph/output.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

// Row i of the innermost level is values[splits[i]] to values[splits[i + 1] - 1]; outer levels are
// rows of rows. Splits are int32 or int64 vectors, outermost first.
SparseTensor RaggedTensorToSparse(const std::vector<Output>& nested_splits, Output values);
// A dense tensor of the given shape (-1, or a vector in which -1 stands for the longest row), short
// rows filled up with default_value, long ones cut.
Output RaggedTensorToTensor(Output shape, Output values, Output default_value,
                            const std::vector<Output>& nested_splits);

}  // namespace sextant

#pragma GCC visibility pop

// DenseToDenseSetOperation, DenseToSparseSetOperation, SparseToSparseSetOperation, SetSize: sets.
// The last dimension of a tensor, dense or sparse, is a set for each index of the others.
#pragma once

#include <string_view>

#include "sextant/graph/output.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

// "a-b", "b-a", "intersection" or "union" of the sets of two tensors, sorted. The tensors must have
// the same dimensions but for the last.
SparseTensor SetOperation(Output a, Output b, std::string_view operation);
SparseTensor SetOperation(Output a, const SparseTensor& b, std::string_view operation);
SparseTensor SetOperation(const SparseTensor& a, const SparseTensor& b, std::string_view operation);
// The number of different elements of each set, int32.
Output SetSize(const SparseTensor& sets);

}  // namespace sextant

#pragma GCC visibility pop

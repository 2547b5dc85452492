// SparseAdd, SparseTensorDenseAdd: sums of sparse tensors, and of a sparse and a dense one.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

// a + b. Where both have an entry, the sum is left out when its magnitude is below "threshold", a
// scalar. Entries must be in order.
SparseTensor SparseAdd(const SparseTensor& a, const SparseTensor& b, Output threshold);
// a + b as a dense tensor; repeated entries of a add up. Without broadcasting.
Output SparseTensorDenseAdd(const SparseTensor& a, Output b);

}  // namespace sextant

#pragma GCC visibility pop

// SparseReorder, SparseReshape: the entries in lexicographic order, or under another shape.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

// Entries in the lexicographic order of their indices; equal ones keep their order.
SparseTensor SparseReorder(const SparseTensor& sparse);
// The tensor read in row-major order under another shape; one size may be -1: what is left over.
SparseTensor SparseReshape(const SparseTensor& sparse, const IndexArg& new_shape);

}  // namespace sextant

#pragma GCC visibility pop

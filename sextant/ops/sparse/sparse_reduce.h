// SparseReduceSum, SparseReduceMax, SparseReduceSumSparse, SparseReduceMaxSparse: reductions of
// sparse tensors along axes.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

// Sum and largest of the entries along the axes, as a dense tensor: 0 where there is no entry.
Output SparseReduceSum(const SparseTensor& x, const IndexArg& axes,
                       const ReduceOptions& options = {});
Output SparseReduceMax(const SparseTensor& x, const IndexArg& axes,
                       const ReduceOptions& options = {});
// The same as sparse tensors, with entries only where x has some.
SparseTensor SparseReduceSumSparse(const SparseTensor& x, const IndexArg& axes,
                                   const ReduceOptions& options = {});
SparseTensor SparseReduceMaxSparse(const SparseTensor& x, const IndexArg& axes,
                                   const ReduceOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

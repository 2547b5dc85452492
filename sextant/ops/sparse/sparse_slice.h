// SparseSlice, SparseConcat, SparseSplit: slicing, splitting and joining sparse tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

// The box of the given size at "start"; it may reach over the tensor's end, where it is cut off.
SparseTensor SparseSlice(const SparseTensor& sparse, const IndexArg& start, const IndexArg& size);
// The tensors one after another along "axis"; their other sizes must agree.
SparseTensor SparseConcat(const std::vector<SparseTensor>& sparse, int64_t axis);
// "num" parts along "axis", the first ones larger by one when the size is not a multiple.
std::vector<SparseTensor> SparseSplit(const SparseTensor& sparse, int64_t num,
                                      const IndexArg& axis);

}  // namespace sextant

#pragma GCC visibility pop

// SparseTensor: a tensor of which only some elements are given, the others being zero (or missing).
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// values[k] stands at position indices[k, :] of a tensor of shape dense_shape. indices is an int64
// matrix, dense_shape an int64 vector. Most ops want the rows of indices in lexicographic order
// (SparseReorder) and without repetition.
struct SEXTANT_API SparseTensor {
  Output indices;
  Output values;
  Output dense_shape;
};

}  // namespace sextant

#pragma GCC visibility pop

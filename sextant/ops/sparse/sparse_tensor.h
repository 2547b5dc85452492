// SparseTensor: a tensor of which only some elements are given, the others being zero (or missing).
#pragma once

#include "sextant/graph/output.h"

namespace sextant {

// values[k] stands at position indices[k, :] of a tensor of shape dense_shape. indices is an int64
// matrix, dense_shape an int64 vector. Most ops want the rows of indices in lexicographic order
// (SparseReorder) and without repetition.
struct SparseTensor {
  Output indices;
  Output values;
  Output dense_shape;
};

}  // namespace sextant

// SparseToDense: the dense form of a sparse tensor.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"
#include "sextant/ops/sparse/sparse_tensor.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API SparseToDenseOptions {
  // Indices must be in lexicographic order and not repeat; otherwise the last of equal ones counts.
  bool validate_indices = true;
};
// A tensor of shape output_shape that holds default_value but for values[k] at indices[k]. indices
// may be a matrix, a vector of positions in a vector, or one such position; values may be a scalar.
Output SparseToDense(Output indices, const IndexArg& output_shape, Output values,
                     Output default_value, const SparseToDenseOptions& options = {});
Output SparseToDense(const SparseTensor& sparse, Output default_value,
                     const SparseToDenseOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

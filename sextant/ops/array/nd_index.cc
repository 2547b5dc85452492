#include "sextant/ops/array/nd_index.h"

#include <fmt/ranges.h>

#include "sextant/base/error.h"
#include "sextant/ops/array/index_tensor.h"

namespace sextant {

void NdIndex::Set(const Tensor& indices, const Shape& target, const char* what) {
  if (indices.rank() < 1) throw InvalidArgument("indices must be at least a vector");
  depth = indices.dim(indices.rank() - 1);
  if (depth > target.rank()) {
    throw InvalidArgument("indices.shape = {} indexes {} dimensions of {} {}",
                          indices.shape().ToString(), depth, what, target.ToString());
  }
  slice = 1;
  for (int d = static_cast<int>(depth); d < target.rank(); ++d) slice *= target[d];
  int64_t positions = 1;
  for (int d = 0; d < indices.rank() - 1; ++d) positions *= indices.dim(d);
  if (depth == 0) {
    rows.assign(static_cast<size_t>(positions), 0);
    return;
  }
  // In place: row k is written where number k was, which has been read by then.
  ReadIndices(indices, &rows);
  for (int64_t k = 0; k < positions; ++k) {
    int64_t row = 0;
    for (int64_t d = 0; d < depth; ++d) {
      const int64_t index = rows[k * depth + d], size = target[static_cast<int>(d)];
      if (index < 0 || index >= size) {
        std::vector<int64_t> position;
        for (int64_t i = 0; i < depth; ++i) position.push_back(IndexAt(indices, k * depth + i));
        Shape positions_shape = indices.shape();
        positions_shape.Erase(indices.rank() - 1);
        throw InvalidArgument("indices{} = [{}] does not index into {} {}",
                              CoordinatesText(positions_shape, k), fmt::join(position, ", "), what,
                              target.ToString());
      }
      row = row * size + index;
    }
    rows[k] = row;
  }
  rows.resize(static_cast<size_t>(positions));
}

void CheckScattered(const Shape& indices, const Shape& updates, const Shape& target) {
  const bool empty = target.num_elements() == 0;
  if (indices.num_elements() == 0 && updates.num_elements() == 0) {
    if (empty || indices.rank() < 1 || indices[indices.rank() - 1] > 0) return;
    throw InvalidArgument("the last dimension of indices must not be 0, got shape {}",
                          indices.ToString());
  }
  if (empty || indices.num_elements() == 0 || updates.num_elements() == 0) {
    throw InvalidArgument("Indices and updates specified for empty output shape");
  }
}

}  // namespace sextant

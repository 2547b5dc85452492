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

}  // namespace sextant

// Indices into several dimensions at once, as GatherNd and ScatterNd take them: the last dimension
// of the index tensor holds one position.
#pragma once

#include <cstdint>
#include <vector>

#include "sextant/tensor/tensor.h"

namespace sextant {

struct NdIndex {
  int64_t depth = 0;  // numbers per position: leading dimensions of the target that they index
  int64_t slice = 1;  // elements of the target that one position stands for
  std::vector<int64_t> rows;  // per position: which of the target's slices

  // Replaces the content. Throws INVALID_ARGUMENT, naming the position, when one is outside of
  // "target"; "what" names the target in the message.
  void Set(const Tensor& indices, const Shape& target, const char* what);
};

// As TensorFlow: either nothing is scattered, or indices, updates and target all have elements; and
// indices of depth 0 fit only a target without elements. Else throws INVALID_ARGUMENT.
void CheckScattered(const Shape& indices, const Shape& updates, const Shape& target);

}  // namespace sextant

// Tensors of 1, 2, 3, ...
#pragma once

#include "sextant/tensor/tensor.h"

namespace sextant {

// Repeating after "period" elements, so that sums of many are exact.
template <typename T = float>
Tensor Counting(const Shape& shape, int period = 1 << 20) {
  Tensor t(DTypeOf<T>, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.data<T>()[i] = T(static_cast<float>(i % period + 1));
  }
  return t;
}

}  // namespace sextant

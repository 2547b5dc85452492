// Arithmetic shared by the sparse kernels.
#pragma once

#include "sextant/tensor/float16.h"

namespace sextant {

// The type in which elements are added up: float for the 16-bit floats, T itself otherwise.
template <typename T>
struct SumTypeOf {
  using Type = T;
};
template <>
struct SumTypeOf<Half> {
  using Type = float;
};
template <>
struct SumTypeOf<BFloat16> {
  using Type = float;
};
template <typename T>
using SumType = typename SumTypeOf<T>::Type;

}  // namespace sextant

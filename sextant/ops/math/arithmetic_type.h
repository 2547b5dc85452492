// The type in which elements of a type are computed.
#pragma once

#include <type_traits>

#include "sextant/tensor/float16.h"

namespace sextant {

// T itself, but float for the 16-bit floating types.
template <typename T>
using Arithmetic =
    std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

}  // namespace sextant

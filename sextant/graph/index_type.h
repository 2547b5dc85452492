// The types that sizes, axes and indices have.
#pragma once

#include "sextant/tensor/dtype.h"

namespace sextant {

inline bool IsIndex(DType dtype) { return dtype == DType::kInt32 || dtype == DType::kInt64; }

}  // namespace sextant

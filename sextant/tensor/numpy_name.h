// NumPy's names of types.
#pragma once

#include <string>

#include "sextant/tensor/dtype.h"

namespace sextant {

// As scripts know the type: "float32" where TensorFlow says "float".
std::string NumpyName(DType dtype);

}  // namespace sextant

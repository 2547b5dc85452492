#include "sextant/tensor/numpy_name.h"

namespace sextant {

std::string NumpyName(DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return "float32";
    case DType::kDouble:
      return "float64";
    case DType::kHalf:
      return "float16";
    default:
      return DTypeName(dtype);
  }
}

}  // namespace sextant

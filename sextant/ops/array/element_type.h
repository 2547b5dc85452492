// Kernels that only move elements are instantiated once per element size, not once per type.
#pragma once

#include <cstdint>
#include <string>

#include "sextant/base/error.h"
#include "sextant/tensor/dtype.h"
#include "sextant/tensor/handle.h"

namespace sextant {

// Stands for any plain element of 16 bytes.
struct Element16 {
  uint64_t low = 0, high = 0;
};

// Calls f.template operator()<T>() with a T of the element's size that copies as the element does:
// an unsigned integer, Element16, std::string, Variant or ResourceHandle. T{} is the zero element.
template <typename F>
decltype(auto) WithElement(DType dtype, F&& f) {
  switch (dtype) {
    case DType::kString:
      return f.template operator()<std::string>();
    case DType::kVariant:
      return f.template operator()<Variant>();
    case DType::kResource:
      return f.template operator()<ResourceHandle>();
    default:
      break;
  }
  switch (DTypeSize(dtype)) {
    case 1:
      return f.template operator()<uint8_t>();
    case 2:
      return f.template operator()<uint16_t>();
    case 4:
      return f.template operator()<uint32_t>();
    case 8:
      return f.template operator()<uint64_t>();
    case 16:
      return f.template operator()<Element16>();
    default:
      throw InvalidArgument("{} tensors have no elements to move", DTypeName(dtype));
  }
}

}  // namespace sextant

// Reading parameters of any real type as double.
#pragma once

#include <vector>

#include "sextant/base/error.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

// The elements as doubles; "values" keeps its memory. Throws INVALID_ARGUMENT on other types.
inline void ReadReals(const Tensor& tensor, std::vector<double>* values) {
  const auto copy = [&]<typename T>() {
    values->clear();
    for (const T value : tensor.flat<T>()) {
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        values->push_back(static_cast<float>(value));
      } else {
        values->push_back(static_cast<double>(value));
      }
    }
  };
  switch (tensor.dtype()) {
    case DType::kFloat:
      return copy.template operator()<float>();
    case DType::kDouble:
      return copy.template operator()<double>();
    case DType::kHalf:
      return copy.template operator()<Half>();
    case DType::kBFloat16:
      return copy.template operator()<BFloat16>();
    case DType::kInt32:
      return copy.template operator()<int32_t>();
    case DType::kInt64:
      return copy.template operator()<int64_t>();
    default:
      throw InvalidArgument("{} is not a tensor of real numbers", tensor.Describe());
  }
}

}  // namespace sextant

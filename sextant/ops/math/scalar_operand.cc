#include "sextant/ops/math/scalar_operand.h"

#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"

namespace sextant {

template <typename T>
Tensor ScalarOperand::ToInteger() const {
  // 2^digits is the first number above the type's largest, and exact in double.
  const double above = std::ldexp(1.0, std::numeric_limits<T>::digits);
  const double below = std::is_signed_v<T> ? -above : 0.0;
  const bool fits = integral_ ? std::in_range<T>(integer_)
                              : real_ >= below && real_ < above && real_ == std::trunc(real_);
  if (!fits) {
    throw InvalidArgument("{} is no number of type {}; cast the tensor to a type that holds it",
                          real_, DTypeName(DTypeOf<T>));
  }
  return Tensor::Scalar(integral_ ? static_cast<T>(integer_) : static_cast<T>(real_));
}

Tensor ScalarOperand::ToTensor(DType dtype) const {
  switch (dtype) {
    case DType::kFloat:
      return Tensor::Scalar(static_cast<float>(real_));
    case DType::kDouble:
      return Tensor::Scalar(real_);
    case DType::kHalf:
      return Tensor::Scalar(Half(static_cast<float>(real_)));
    case DType::kBFloat16:
      return Tensor::Scalar(BFloat16(static_cast<float>(real_)));
    case DType::kComplex64:
      return Tensor::Scalar(std::complex<float>(static_cast<float>(real_)));
    case DType::kComplex128:
      return Tensor::Scalar(std::complex<double>(real_));
    case DType::kInt8:
      return ToInteger<int8_t>();
    case DType::kInt16:
      return ToInteger<int16_t>();
    case DType::kInt32:
      return ToInteger<int32_t>();
    case DType::kInt64:
      return ToInteger<int64_t>();
    case DType::kUInt8:
      return ToInteger<uint8_t>();
    case DType::kUInt16:
      return ToInteger<uint16_t>();
    case DType::kUInt32:
      return ToInteger<uint32_t>();
    case DType::kUInt64:
      return ToInteger<uint64_t>();
    case DType::kBool:
      if (real_ == 0 || real_ == 1) return Tensor::Scalar(real_ == 1);
      [[fallthrough]];
    default:
      throw InvalidArgument("{} is no number of type {}", real_, DTypeName(dtype));
  }
}

Output ScalarLike(ScalarOperand value, Output like) { return Const(value.ToTensor(like.dtype())); }

}  // namespace sextant

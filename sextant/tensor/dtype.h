// Element types, with TensorFlow's numbers, and the C++ types that stand for them.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "sextant/base/export.h"
#include "sextant/tensor/float16.h"

#pragma GCC visibility push(default)

namespace sextant {

struct ResourceHandle;  // tensor/handle.h
class Variant;          // tensor/handle.h

// Values are those of tensorflow.DataType. A reference type is the value plus 100; it occurs only
// in signatures and imported graphs (see IsRef).
enum class DType : uint8_t {
  kInvalid = 0,
  kFloat = 1,
  kDouble = 2,
  kInt32 = 3,
  kUInt8 = 4,
  kInt16 = 5,
  kInt8 = 6,
  kString = 7,
  kComplex64 = 8,
  kInt64 = 9,
  kBool = 10,
  kQInt8 = 11,
  kQUInt8 = 12,
  kQInt32 = 13,
  kBFloat16 = 14,
  kQInt16 = 15,
  kQUInt16 = 16,
  kUInt16 = 17,
  kComplex128 = 18,
  kHalf = 19,
  kResource = 20,
  kVariant = 21,
  kUInt32 = 22,
  kUInt64 = 23,
};

// "float", "int64", "half", ...; "float_ref" for reference types; "dtype(77)" for unknown numbers.
std::string DTypeName(DType dtype);
// Inverse of DTypeName; kInvalid when the name is not a type.
DType DTypeFromName(std::string_view name);

constexpr bool IsRef(DType dtype) { return static_cast<uint8_t>(dtype) > 100; }
constexpr DType RemoveRef(DType dtype) {
  return IsRef(dtype) ? static_cast<DType>(static_cast<uint8_t>(dtype) - 100) : dtype;
}
constexpr DType MakeRef(DType dtype) {
  return IsRef(dtype) ? dtype : static_cast<DType>(static_cast<uint8_t>(dtype) + 100);
}

// Bytes of one element in memory (sizeof(std::string) for strings); 0 for kInvalid and unknown
// types.
size_t DTypeSize(DType dtype);
// half, bfloat16, float, double.
bool IsFloating(DType dtype);
// Signed and unsigned integers; not bool, not quantised.
bool IsInteger(DType dtype);
bool IsComplex(DType dtype);
// Elements need no constructor or destructor: everything but string, resource and variant.
bool IsPlain(DType dtype);

// DTypeOf<float> == DType::kFloat, ...; a compile error for types that are not element types.
template <typename T>
struct DTypeOfT;
template <typename T>
inline constexpr DType DTypeOf = DTypeOfT<T>::value;

template <DType d>
using DTypeConstant = std::integral_constant<DType, d>;
template <>
struct DTypeOfT<float> : DTypeConstant<DType::kFloat> {};
template <>
struct DTypeOfT<double> : DTypeConstant<DType::kDouble> {};
template <>
struct DTypeOfT<Half> : DTypeConstant<DType::kHalf> {};
template <>
struct DTypeOfT<BFloat16> : DTypeConstant<DType::kBFloat16> {};
template <>
struct DTypeOfT<int8_t> : DTypeConstant<DType::kInt8> {};
template <>
struct DTypeOfT<int16_t> : DTypeConstant<DType::kInt16> {};
template <>
struct DTypeOfT<int32_t> : DTypeConstant<DType::kInt32> {};
template <>
struct DTypeOfT<int64_t> : DTypeConstant<DType::kInt64> {};
template <>
struct DTypeOfT<uint8_t> : DTypeConstant<DType::kUInt8> {};
template <>
struct DTypeOfT<uint16_t> : DTypeConstant<DType::kUInt16> {};
template <>
struct DTypeOfT<uint32_t> : DTypeConstant<DType::kUInt32> {};
template <>
struct DTypeOfT<uint64_t> : DTypeConstant<DType::kUInt64> {};
template <>
struct DTypeOfT<bool> : DTypeConstant<DType::kBool> {};
template <>
struct DTypeOfT<std::string> : DTypeConstant<DType::kString> {};
template <>
struct DTypeOfT<std::complex<float>> : DTypeConstant<DType::kComplex64> {};
template <>
struct DTypeOfT<std::complex<double>> : DTypeConstant<DType::kComplex128> {};
template <>
struct DTypeOfT<ResourceHandle> : DTypeConstant<DType::kResource> {};
template <>
struct DTypeOfT<Variant> : DTypeConstant<DType::kVariant> {};

}  // namespace sextant

#pragma GCC visibility pop

#include "sextant/ops/state/row_update.h"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "sextant/base/error.h"
#include "sextant/ops/array/element_type.h"

namespace sextant {
namespace {

template <typename T>
constexpr bool kIs16 = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <typename T>
using Wide = std::conditional_t<kIs16<T>, float, T>;

template <typename T>
T Divide(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) throw InvalidArgument("integer division by zero");
    if constexpr (std::is_signed_v<T>) {
      // The smallest number divided by -1 would trap.
      if (b == -1) return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a));
    }
  }
  return static_cast<T>(a / b);
}

// Signed overflow wraps: done unsigned.
template <typename T>
auto Bits(T value) {
  if constexpr (std::is_same_v<T, bool>) {
    return static_cast<unsigned>(value);
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<std::common_type_t<std::make_unsigned_t<T>, unsigned>>(value);
  } else {
    return value;
  }
}

template <UpdateKind kind, typename T>
T Combine(T a, T b) {
  if constexpr (kind == UpdateKind::kAdd) return static_cast<T>(Bits(a) + Bits(b));
  if constexpr (kind == UpdateKind::kSub) return static_cast<T>(Bits(a) - Bits(b));
  if constexpr (kind == UpdateKind::kMul) return static_cast<T>(Bits(a) * Bits(b));
  if constexpr (kind == UpdateKind::kDiv) return Divide(a, b);
  if constexpr (kind == UpdateKind::kMin) return b < a ? b : a;
  if constexpr (kind == UpdateKind::kMax) return a < b ? b : a;
}

template <UpdateKind kind, typename T>
void Arithmetic(void* dst_data, const void* src_data, int64_t count, bool broadcast) {
  auto* __restrict dst = static_cast<T*>(dst_data);
  const auto* __restrict src = static_cast<const T*>(src_data);
  using W = Wide<T>;
  if (broadcast) {
    const W value = static_cast<W>(src[0]);
    for (int64_t i = 0; i < count; ++i) dst[i] = T(Combine<kind, W>(static_cast<W>(dst[i]), value));
  } else {
    for (int64_t i = 0; i < count; ++i) {
      dst[i] = T(Combine<kind, W>(static_cast<W>(dst[i]), static_cast<W>(src[i])));
    }
  }
}

template <typename T>
void AssignRow(void* dst_data, const void* src_data, int64_t count, bool broadcast) {
  auto* dst = static_cast<T*>(dst_data);
  const auto* src = static_cast<const T*>(src_data);
  if (broadcast) {
    std::fill_n(dst, count, *src);
  } else {
    std::copy_n(src, count, dst);
  }
}

template <typename T>
RowUpdate Find(UpdateKind kind) {
  switch (kind) {
    case UpdateKind::kAdd:
      return Arithmetic<UpdateKind::kAdd, T>;
    case UpdateKind::kSub:
      return Arithmetic<UpdateKind::kSub, T>;
    case UpdateKind::kMul:
      return Arithmetic<UpdateKind::kMul, T>;
    case UpdateKind::kDiv:
      return Arithmetic<UpdateKind::kDiv, T>;
    default:
      break;
  }
  if constexpr (!std::is_same_v<T, std::complex<float>> &&
                !std::is_same_v<T, std::complex<double>>) {
    if (kind == UpdateKind::kMin) return Arithmetic<UpdateKind::kMin, T>;
    if (kind == UpdateKind::kMax) return Arithmetic<UpdateKind::kMax, T>;
  }
  return nullptr;
}

RowUpdate FindArithmetic(UpdateKind kind, DType dtype) {
  switch (dtype) {
    case DType::kFloat:
      return Find<float>(kind);
    case DType::kDouble:
      return Find<double>(kind);
    case DType::kHalf:
      return Find<Half>(kind);
    case DType::kBFloat16:
      return Find<BFloat16>(kind);
    case DType::kInt8:
      return Find<int8_t>(kind);
    case DType::kInt16:
      return Find<int16_t>(kind);
    case DType::kInt32:
      return Find<int32_t>(kind);
    case DType::kInt64:
      return Find<int64_t>(kind);
    case DType::kUInt8:
      return Find<uint8_t>(kind);
    case DType::kUInt16:
      return Find<uint16_t>(kind);
    case DType::kUInt32:
      return Find<uint32_t>(kind);
    case DType::kUInt64:
      return Find<uint64_t>(kind);
    case DType::kBool:
      return Find<bool>(kind);
    case DType::kComplex64:
      return Find<std::complex<float>>(kind);
    case DType::kComplex128:
      return Find<std::complex<double>>(kind);
    default:
      return nullptr;
  }
}

}  // namespace

RowUpdate FindRowUpdate(UpdateKind kind, DType dtype) {
  if (kind == UpdateKind::kAssign) {
    return WithElement(dtype, []<typename T>() -> RowUpdate { return AssignRow<T>; });
  }
  const RowUpdate update = FindArithmetic(kind, dtype);
  if (update == nullptr) throw Unimplemented("{} cannot be updated so", DTypeName(dtype));
  return update;
}

const std::vector<DType>& RowUpdateTypes(UpdateKind kind) {
  static const std::vector<DType> reals = {
      DType::kFloat,  DType::kDouble, DType::kHalf,  DType::kBFloat16, DType::kInt8,
      DType::kInt16,  DType::kInt32,  DType::kInt64, DType::kUInt8,    DType::kUInt16,
      DType::kUInt32, DType::kUInt64, DType::kBool};
  static const std::vector<DType> numbers = [] {
    auto all = reals;
    all.insert(all.end(), {DType::kComplex64, DType::kComplex128});
    return all;
  }();
  static const std::vector<DType> all = [] {
    auto types = numbers;
    types.insert(types.end(), {DType::kString, DType::kVariant, DType::kResource});
    return types;
  }();
  switch (kind) {
    case UpdateKind::kAssign:
      return all;
    case UpdateKind::kMin:
    case UpdateKind::kMax:
      return reals;
    default:
      return numbers;
  }
}

}  // namespace sextant

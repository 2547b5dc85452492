#include <algorithm>
#include <bit>
#include <type_traits>

#include "sextant/ops/math/elementwise_kernel.h"

namespace sextant {
namespace {

template <typename T>
int ShiftBy(T y) {
  const int last = static_cast<int>(sizeof(T)) * 8 - 1;
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return 0;
  }
  return y > static_cast<T>(last) ? last : static_cast<int>(y);
}

}  // namespace

void RegisterBitwiseCpu(KernelRegistry& registry) {
  const double cost = kArithmeticCost;
  AddBinary(
      registry, "BitwiseAnd", Integers(), [](auto x, auto y) { return x & y; }, cost);
  AddBinary(
      registry, "BitwiseOr", Integers(), [](auto x, auto y) { return x | y; }, cost);
  AddBinary(
      registry, "BitwiseXor", Integers(), [](auto x, auto y) { return x ^ y; }, cost);
  AddBinary(
      registry, "LeftShift", Integers(),
      [](auto x, auto y) { return static_cast<uint64_t>(x) << ShiftBy(y); }, cost);
  AddBinary(
      registry, "RightShift", Integers(), [](auto x, auto y) { return x >> ShiftBy(y); }, cost);
  AddUnary(
      registry, "Invert", Integers(), [](auto x) { return ~x; }, cost);
  AddUnaryTo<uint8_t>(registry, "PopulationCount", Integers(), [](auto x) {
    return std::popcount(static_cast<std::make_unsigned_t<decltype(x)>>(x));
  });
}

}  // namespace sextant

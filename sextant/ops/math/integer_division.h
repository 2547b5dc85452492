// Division of integers. A zero divisor throws INVALID_ARGUMENT; the one quotient that does not fit
// (the least number by -1) wraps around.
#pragma once

#include <type_traits>

#include "sextant/base/error.h"
#include "sextant/ops/math/wrapping.h"

namespace sextant {

struct IntegerDivision {
  // Cut towards zero, and the rest, which has the sign of x.
  template <typename T>
  static T Truncate(T x, T y) {
    CheckDivisor(y);
    return IsMinusOne(y) ? Wrapping::Sub(T(0), x) : static_cast<T>(x / y);
  }
  template <typename T>
  static T TruncateRest(T x, T y) {
    CheckDivisor(y);
    return IsMinusOne(y) ? T(0) : static_cast<T>(x % y);
  }
  // Rounded down, and the rest, which has the sign of y.
  template <typename T>
  static T Floor(T x, T y) {
    const T quotient = Truncate(x, y);
    return NeedsStepDown(TruncateRest(x, y), y) ? static_cast<T>(quotient - 1) : quotient;
  }
  template <typename T>
  static T FloorRest(T x, T y) {
    const T rest = TruncateRest(x, y);
    return NeedsStepDown(rest, y) ? static_cast<T>(rest + y) : rest;
  }

 private:
  template <typename T>
  static void CheckDivisor(T y) {
    if (y == 0) [[unlikely]]
      throw InvalidArgument("Integer division by zero");
  }
  template <typename T>
  static bool IsMinusOne(T y) {
    if constexpr (std::is_signed_v<T>) return y == -1;
    return false;
  }
  template <typename T>
  static bool NeedsStepDown(T rest, T y) {
    if constexpr (std::is_signed_v<T>) return rest != 0 && (rest < 0) != (y < 0);
    return false;
  }
};

}  // namespace sextant

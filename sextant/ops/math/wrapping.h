// Arithmetic of integers that wraps around on overflow, as TensorFlow's does; floating types
// compute as usual.
#pragma once

#include <cstdint>
#include <type_traits>

namespace sextant {

struct Wrapping {
  template <typename T>
  static T Add(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    } else {
      return a + b;
    }
  }
  template <typename T>
  static T Sub(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
    } else {
      return a - b;
    }
  }
  template <typename T>
  static T Mul(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
    } else {
      return a * b;
    }
  }
};

}  // namespace sextant

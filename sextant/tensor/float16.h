// The two 16-bit floats as storage types. Arithmetic is done in float; conversion from float rounds
// to nearest even and keeps NaN and infinity.
#pragma once

#include <bit>
#include <cstdint>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

namespace float16_internal {
uint16_t HalfFromFloat(float value);
float HalfToFloat(uint16_t bits);
inline uint16_t BFloat16FromFloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}
}  // namespace float16_internal

struct SEXTANT_API Half {
  uint16_t bits = 0;
  Half() = default;
  explicit Half(float value) : bits(float16_internal::HalfFromFloat(value)) {}
  explicit operator float() const { return float16_internal::HalfToFloat(bits); }
  static Half FromBits(uint16_t bits) {  // no conversion
    Half h;
    h.bits = bits;
    return h;
  }
};

struct SEXTANT_API BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  explicit BFloat16(float value) : bits(float16_internal::BFloat16FromFloat(value)) {}
  explicit operator float() const {  // exact
    return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
  }
  static BFloat16 FromBits(uint16_t bits) {  // no conversion
    BFloat16 b;
    b.bits = bits;
    return b;
  }
};

}  // namespace sextant

#pragma GCC visibility pop

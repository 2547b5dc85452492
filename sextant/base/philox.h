// Philox4x32-10, the counter-based generator behind every random op, with TensorFlow's seed rules
// and conversions: equal seeds give TensorFlow's bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "sextant/base/export.h"

#pragma GCC visibility push(default)

namespace sextant {

// A key and a 128-bit counter; each block takes one counter value, so seeking costs nothing.
// A value type, not synchronised.
class SEXTANT_API Philox {
 public:
  using Block = std::array<uint32_t, 4>;  // the numbers of one counter
  struct Counter {                        // 128 bits, as two halves
    uint64_t low = 0;
    uint64_t high = 0;
    bool operator==(const Counter&) const = default;
  };

  Philox(uint64_t key, Counter counter) : key_(key), counter_(counter) {}

  // The start of a stateful op with attributes `seed` and `seed2`. Both 0 asks for randomness of
  // the system.
  static Philox ForSeeds(int64_t seed, int64_t seed2);
  // The start of a stateless op with seed tensor [a, b].
  static Philox ForStatelessSeed(int64_t a, int64_t b);

  uint64_t key() const { return key_; }
  Counter counter() const { return counter_; }

  // The block at the counter, which then grows by 1.
  Block Next() {
    const Block block = At(key_, counter_);
    Skip(1);
    return block;
  }
  // Moves the counter on by `num_blocks`, modulo 2^128.
  void Skip(uint64_t num_blocks) {
    counter_.low += num_blocks;
    counter_.high += counter_.low < num_blocks;
  }

  static Block At(uint64_t key, Counter counter) {  // without a state
    auto k0 = static_cast<uint32_t>(key);
    auto k1 = static_cast<uint32_t>(key >> 32);
    Block c = {static_cast<uint32_t>(counter.low), static_cast<uint32_t>(counter.low >> 32),
               static_cast<uint32_t>(counter.high), static_cast<uint32_t>(counter.high >> 32)};
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c[0];
      const uint64_t p1 = uint64_t{0xCD9E8D57} * c[2];
      c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    return c;
  }

 private:
  uint64_t key_;
  Counter counter_;
};

// Words to numbers in [0, 1). The random bits fill the mantissa of a number in [1, 2).
inline float UniformFloat(uint32_t word) {
  return std::bit_cast<float>((127u << 23) | (word & 0x7FFFFFu)) - 1.0f;
}
// The first word is the high part.
inline double UniformDouble(uint32_t first, uint32_t second) {
  const uint64_t mantissa = (uint64_t{first & 0xFFFFFu} << 32) | second;
  return std::bit_cast<double>((uint64_t{1023} << 52) | mantissa) - 1.0;
}
// The bits of a half.
uint16_t UniformHalfBits(uint32_t word);
// The bits of a bfloat16.
inline uint16_t UniformBFloat16Bits(uint32_t word) {
  return static_cast<uint16_t>(std::bit_cast<uint32_t>(static_cast<float>(word & 0x7Fu) / 128.0f) >>
                               16);
}
// 64 random bits. The first word is the low part.
inline uint64_t UniformBits64(uint32_t first, uint32_t second) {
  return first | uint64_t{second} << 32;
}

}  // namespace sextant

#pragma GCC visibility pop

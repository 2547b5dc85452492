#include "sextant/base/philox.h"

#include <random>

namespace sextant {

Philox Philox::ForSeeds(int64_t seed, int64_t seed2) {
  auto key = static_cast<uint64_t>(seed);
  auto high = static_cast<uint64_t>(seed2);
  if (key == 0 && high == 0) {
    std::random_device device;
    key = UniformBits64(device(), device());
    high = UniformBits64(device(), device());
  }
  return Philox(key, {0, high});
}

Philox Philox::ForStatelessSeed(int64_t a, int64_t b) {
  const Block mixed = At(0x02461E293EC8F720, {static_cast<uint64_t>(a), static_cast<uint64_t>(b)});
  return Philox(UniformBits64(mixed[0], mixed[1]), {0, UniformBits64(mixed[2], mixed[3])});
}

uint16_t UniformHalfBits(uint32_t word) {
  const uint32_t mantissa = word & 0x3FFu;  // the value is mantissa / 1024, never denormal
  if (mantissa == 0) return 0;
  const int shift = 11 - std::bit_width(mantissa);
  return static_cast<uint16_t>((15 - shift) << 10 | ((mantissa << shift) & 0x3FFu));
}

}  // namespace sextant

// TensorFlow's Hash64: a 64-bit MurmurHash2. It decides the buckets of StringToHashBucket and of
// dense hash tables, so it never changes.
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

inline constexpr uint64_t kHash64Seed = 0xDECAFCAFFE;

uint64_t Hash64(std::string_view bytes, uint64_t seed = kHash64Seed);

// A hash of the ordered pair of two hashes.
constexpr uint64_t Hash64Combine(uint64_t a, uint64_t b) {
  return a ^ (b + 0x9e3779b97f4a7800 + (a << 10) + (a >> 4));
}

}  // namespace sextant

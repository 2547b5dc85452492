// Frozen 64-bit hashes, equal to TensorFlow's on every machine: what hash buckets and crossed
// columns are made of.
#pragma once

#include <cstdint>
#include <string_view>

#include "sextant/base/export.h"

namespace sextant {

// FarmHash's Fingerprint64.
SEXTANT_API uint64_t Fingerprint64(std::string_view bytes);

// A fingerprint of the ordered pair of two fingerprints.
inline uint64_t FingerprintCat64(uint64_t first, uint64_t second) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  const auto mix = [](uint64_t x) { return x ^ (x >> 47); };
  uint64_t result = first ^ kMultiplier;
  result ^= mix(second * kMultiplier) * kMultiplier;
  result *= kMultiplier;
  return mix(mix(result) * kMultiplier);
}

}  // namespace sextant

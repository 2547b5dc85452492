// Frozen 64-bit hashes, equal to TensorFlow's on every machine: what hash buckets and crossed
// columns are made of.
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

// FarmHash's Fingerprint64.
uint64_t Fingerprint64(std::string_view bytes);

// A fingerprint of the ordered pair of two fingerprints.
uint64_t FingerprintCat64(uint64_t first, uint64_t second);

}  // namespace sextant

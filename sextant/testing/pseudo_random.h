// Tensors of numbers that look random and are the same everywhere.
#pragma once

#include <cstdint>

#include "sextant/tensor/tensor.h"

namespace sextant {

// Floats in [low, high), by a linear congruential generator.
inline Tensor PseudoRandom(const Shape& shape, uint32_t seed, float low = -2, float high = 2) {
  Tensor t(DType::kFloat, shape);
  uint32_t state = seed * 2654435761u + 1;
  for (float& value : t.flat<float>()) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 16777216.0f * (high - low) + low;
  }
  return t;
}

}  // namespace sextant

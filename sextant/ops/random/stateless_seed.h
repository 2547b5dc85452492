// Where a stateless random op starts: given by its seed input, or by key, counter and algorithm.
#pragma once

#include "sextant/base/philox.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

// From a seed tensor of two integers. Throws INVALID_ARGUMENT on another shape.
Philox StreamOfSeed(const Tensor& seed);
// From key[1], counter[2] (low word first) and the number of the algorithm: 1 is Philox, 3 leaves
// the choice. Throws INVALID_ARGUMENT on others.
Philox StreamOfKey(const Tensor& key, const Tensor& counter, const Tensor& algorithm);
inline constexpr int32_t kPhiloxAlgorithm = 1;

}  // namespace sextant

// Feeds whose values a Plan is made for, not only their shapes: scalar bools such as "is_training",
// so that the conditionals that they decide are resolved before the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sextant/tensor/tensor.h"

namespace sextant {

// The most feeds of a run that are specialised: each may double the Plans of a session.
inline constexpr int kMaxFedPredicates = 4;

// Whether feed "i" of a run is one of them.
bool IsFedPredicate(std::span<const Tensor> feeds, size_t i);
// Their values as one number, for feeds of given types and shapes.
uint64_t FedPredicates(std::span<const Tensor> feeds);

}  // namespace sextant

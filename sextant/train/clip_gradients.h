// Clipping of gradients, to put between ComputeGradients and ApplyGradients.
#pragma once

#include <utility>
#include <vector>

#include "sextant/train/optimizer.h"

#pragma GCC visibility push(default)

namespace sextant::train {

// The root of the sum of all squares. Of slices the values count as they are, repeated rows too.
Output GlobalNorm(const std::vector<Gradient>& gradients);

// Every gradient times clip_norm / max(norm, clip_norm); a norm that is not finite makes them NaN.
// Also gives the norm before.
std::pair<std::vector<Gradient>, Output> ClipByGlobalNorm(const std::vector<Gradient>& gradients,
                                                          float clip_norm);
// Each gradient alone.
Gradient ClipByNorm(const Gradient& gradient, float clip_norm);
Gradient ClipByValue(const Gradient& gradient, float min, float max);

// As MinimizeOptions::transform.
std::vector<GradientAndVariable> ClipAllByGlobalNorm(std::vector<GradientAndVariable> gradients,
                                                     float clip_norm);

}  // namespace sextant::train

#pragma GCC visibility pop

// Loops of max pooling of floats over the channels of images, by SIMD that is chosen at run time.
#pragma once

#include <cstdint>

#include "sextant/ops/nn/pool_geometry.h"

namespace sextant {

// Line h of windows of one image without depth. "x" and "dx" start at the first pixel of the image,
// "y" and "dy" at the first of the line; "count" channels of each pixel are worked on.
struct MaxPoolLoops {
  // The largest numbers; NaN and what is below the lowest finite number do not count.
  void (*line)(const PoolGeometry& g, int64_t h, int64_t count, const float* x, float* y);
  // Adds dy to dx at the largest element of each window, the first of equal ones. NaN counts only
  // where it comes first.
  void (*line_gradient)(const PoolGeometry& g, int64_t h, int64_t count, const float* x,
                        const float* dy, float* dx);
};

const MaxPoolLoops& BestMaxPoolLoops();

}  // namespace sextant

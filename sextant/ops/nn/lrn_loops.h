// Loops of local response normalization over the channels of pixels, by SIMD that is chosen at run
// time.
#pragma once

#include <cstdint>

namespace sextant {

struct LrnPixels {
  int64_t depth;  // channels of a pixel
  int64_t reach;  // of the neighbourhood, to each side, below depth
  float bias, alpha, beta;

  // Floats that the loops work in.
  int64_t scratch() const { return 3 * depth + 2 * reach; }
};

struct LrnLoops {
  // y = x * norm ^ -beta, norm = bias + alpha * sum of x^2 over the neighbourhood.
  void (*forward)(const LrnPixels& p, int64_t pixels, const float* x, float* y, float* scratch);
  // Output j depends on x[i] of its neighbours i: d y[j] / d x[i] =
  // -2 alpha beta x[i] y[j] / norm[j], and norm[j] ^ -beta more where i == j.
  void (*gradient)(const LrnPixels& p, int64_t pixels, const float* dy, const float* x,
                   const float* y, float* dx, float* scratch);
};

const LrnLoops& BestLrnLoops();

}  // namespace sextant

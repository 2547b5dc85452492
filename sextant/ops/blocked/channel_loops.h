// Loops of batch normalization over the pixels of one block of channels, data[pixel * block +
// lane], by SIMD that is chosen at run time. Vectors of channels have "block" entries.
#pragma once

#include <cstdint>

namespace sextant {

struct ChannelLoops {
  // sum[l] = sum of x - shift, squares[l] = sum of (x - shift)^2
  void (*sums)(const float* x, int64_t pixels, int64_t block, const float* shift, float* sum,
               float* squares);
  // y = x * a + b (+ addend), then Relu where asked. "addend" may be null, y may be any of the
  // inputs.
  void (*apply)(const float* x, const float* addend, int64_t pixels, int64_t block, const float* a,
                const float* b, bool relu, float* y);
  // With g = dy, but 0 where "active" is given and not positive:
  // sum[l] = sum of g, dot[l] = sum of g * (x - mean)
  void (*gradient_sums)(const float* dy, const float* active, const float* x, int64_t pixels,
                        int64_t block, const float* mean, float* sum, float* dot);
  // dx = a * g + b * (x - mean) + c
  void (*gradient_apply)(const float* dy, const float* active, const float* x, int64_t pixels,
                         int64_t block, const float* mean, const float* a, const float* b,
                         const float* c, float* dx);
};

const ChannelLoops& BestChannelLoops();

}  // namespace sextant

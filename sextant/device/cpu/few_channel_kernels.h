// The inner loop of few_channel_conv.h, by SIMD that is chosen at run time.
#pragma once

#include <cstdint>

namespace sextant::few_channels {

struct Kernels {
  int64_t lanes = 0;  // the block they work with
  // sum[t][b * lanes + l] += sum over p of x[p * step + t] * y[b * block_stride + p * lanes + l],
  // for all taps t and blocks b; row t of sum starts at sum + t * blocks * lanes.
  void (*accumulate)(const float* x, int64_t step, int64_t taps, const float* y,
                     int64_t block_stride, int64_t blocks, int64_t pixels, float* sum);
};

// lanes is 0 where vectors are too short for it to pay.
const Kernels& BestKernels();

}  // namespace sextant::few_channels

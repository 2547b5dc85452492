// Finding the largest element of windows, for kernels that scatter or gather by it.
#pragma once

#include "sextant/device/kernel.h"
#include "sextant/ops/math/elementwise_kernel.h"
#include "sextant/ops/math/wrapping.h"
#include "sextant/ops/nn/pool_geometry.h"

namespace sextant {

template <typename T>
bool Below(T a, T b) {
  return ToArithmetic(a) < ToArithmetic(b);
}
template <typename T>
bool Same(T a, T b) {
  return ToArithmetic(a) == ToArithmetic(b);
}
template <typename T>
void AddTo(T& sum, T value) {
  sum = T(Wrapping::Add<Arithmetic<T>>(ToArithmetic(sum), ToArithmetic(value)));
}

// The largest element of each of up to kPoolChunk channels in a window, the first of equal ones,
// and its pixel. NaN counts only where it comes first.
template <typename T>
struct Argmax {
  T value[kPoolChunk];
  int32_t pixel[kPoolChunk];

  // "from" is the first channel of pixel 0. REQUIRES: the region is not empty.
  void Find(const PoolGeometry& g, const PoolRegion& region, const T* from, int64_t count) {
    bool first = true;
    region.ForEach(g, [&](int64_t p) {
      const T* x = from + p * g.channels;
      const auto here = static_cast<int32_t>(p);
      if (first) {
        std::copy_n(x, count, value);
        std::fill_n(pixel, count, here);
        first = false;
        return;
      }
      for (int64_t c = 0; c < count; ++c) {
        const bool better = Below(value[c], x[c]);
        value[c] = better ? x[c] : value[c];
        pixel[c] = better ? here : pixel[c];
      }
    });
  }
};

// body(image, first channel, number of channels) for chunks of channels of images, in parallel.
template <typename Body>
void ForImageChunks(KernelContext& ctx, const PoolGeometry& g, Body body) {
  const int64_t chunks = (g.channels + kPoolChunk - 1) / kPoolChunk;
  const int64_t width = std::min(g.channels, kPoolChunk);
  const double cost = static_cast<double>(g.out_pixels() * g.window_pixels() * width);
  ctx.ParallelFor(g.batch * chunks, cost + 10.0, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % chunks * kPoolChunk;
      body(i / chunks, first, std::min(kPoolChunk, g.channels - first));
    }
  });
}

// body(pixel, region) for the windows of one image.
template <typename Body>
void ForWindows(const PoolGeometry& g, Body body) {
  for (int64_t row = 0; row < g.depth.out * g.height.out; ++row) ForWindowsOfRow(g, row, body);
}

}  // namespace sextant

// Pooling as its kernels see it: every case is one of [batch, depth, height, width, channels]
// tensors. Channels that come first count as images of one channel, a window over the channels as
// one over rows of them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/ops/nn/pool_shapes.h"

namespace sextant {

struct PoolAxis {
  int64_t in = 1, out = 1, window = 1, stride = 1, pad = 0;

  // The input elements [begin, end) that the window at position o sees.
  int64_t begin(int64_t o) const { return std::max<int64_t>(0, o * stride - pad); }
  int64_t end(int64_t o) const { return std::min(in, o * stride - pad + window); }
  // The positions [first, last) whose windows see input element i.
  int64_t first(int64_t i) const {
    const int64_t from = i + pad - window + 1;
    return from <= 0 ? 0 : (from + stride - 1) / stride;
  }
  int64_t last(int64_t i) const { return std::min(out, (i + pad) / stride + 1); }
};

struct PoolGeometry {
  int64_t batch = 0, channels = 0;
  PoolAxis depth, height, width;
  Shape output;

  // Throws INVALID_ARGUMENT when the window does not fit the input of the given rank, UNIMPLEMENTED
  // when it spans images, or channels and pixels at once.
  PoolGeometry(const Shape& input, int rank, const PoolWindow& window);

  int64_t in_pixels() const { return depth.in * height.in * width.in; }
  int64_t out_pixels() const { return depth.out * height.out * width.out; }
  int64_t window_pixels() const { return depth.window * height.window * width.window; }

  // Throws INVALID_ARGUMENT, naming the tensor, unless it has the shape of the output.
  void CheckOutput(const Shape& shape, const char* name) const;
};

// The pixels that one window sees.
struct PoolRegion {
  int64_t depth_begin, depth_end, row_begin, row_end, column_begin, column_end;

  PoolRegion(const PoolGeometry& g, int64_t d, int64_t h, int64_t w)
      : depth_begin(g.depth.begin(d)),
        depth_end(g.depth.end(d)),
        row_begin(g.height.begin(h)),
        row_end(g.height.end(h)),
        column_begin(g.width.begin(w)),
        column_end(g.width.end(w)) {}

  int64_t count() const {
    return (depth_end - depth_begin) * (row_end - row_begin) * (column_end - column_begin);
  }
  // body(pixel) for each, in order.
  template <typename Body>
  void ForEach(const PoolGeometry& g, Body body) const {
    for (int64_t d = depth_begin; d < depth_end; ++d) {
      for (int64_t h = row_begin; h < row_end; ++h) {
        const int64_t row = (d * g.height.in + h) * g.width.in;
        for (int64_t w = column_begin; w < column_end; ++w) body(row + w);
      }
    }
  }
};

// body(pixel, region) for the output pixels of image row "row" in [0, batch * depth * height).
template <typename Body>
void ForWindowsOfRow(const PoolGeometry& g, int64_t row, Body body) {
  const int64_t h = row % g.height.out, d = row / g.height.out % g.depth.out;
  for (int64_t w = 0; w < g.width.out; ++w) {
    body(row * g.width.out + w, PoolRegion(g, d, h, w));
  }
}

// Channels are worked on in chunks of this many, so that what is found of them fits in registers
// or the nearest cache.
inline constexpr int64_t kPoolChunk = 64;

}  // namespace sextant

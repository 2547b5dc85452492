// Sums over the elements of each channel of a tensor seen as [outer, channels, inner], such that
// they are accurate and do not depend on the number of threads: float inside blocks of fixed size,
// double across them.
#pragma once

#include <algorithm>
#include <cstdint>

#include "sextant/device/kernel.h"

namespace sextant {

struct ChannelLayout {
  int64_t outer = 1, channels = 1, inner = 1;

  ChannelLayout(const Shape& shape, bool channels_first) {
    const int at = channels_first ? 1 : shape.rank() - 1;
    channels = shape[at];
    for (int i = 0; i < at; ++i) outer *= shape[i];
    for (int i = at + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
  int64_t count() const { return outer * inner; }  // elements per channel
  // Elements of one channel lie "channels" apart (inner == 1) or side by side.
  bool interleaved() const { return inner == 1; }

  // A block is as many rows of all channels as stay in the second-level cache or, when channels
  // are apart, a stretch of one of them.
  static constexpr int64_t kStretch = 8192;
  int64_t block_rows() const {
    return std::max<int64_t>(32, kStretch / std::max<int64_t>(channels, 1));
  }
};

// Calls block(first, rows, sums) for every block of interleaved channels, where "first" is its
// first row and sums[0 ... width * channels) (zeroed) takes what it adds up; then, in order,
// merge(rows, sums) on the calling thread.
template <typename Block, typename Merge>
void FoldRows(KernelContext& ctx, const ChannelLayout& layout, int64_t width, double cost,
              Block block, Merge merge) {
  const int64_t rows = layout.block_rows(), blocks = (layout.outer + rows - 1) / rows;
  const int64_t size = width * layout.channels;
  Tensor scratch = ctx.AllocateTemp(DType::kFloat, Shape{blocks, size});
  float* sums = scratch.data<float>();
  const auto rows_of = [&](int64_t b) { return std::min(rows, layout.outer - b * rows); };
  ctx.ParallelFor(blocks, cost * static_cast<double>(rows * layout.channels) + 1,
                  [&](int64_t begin, int64_t end) {
                    for (int64_t b = begin; b < end; ++b) {
                      std::fill_n(sums + b * size, size, 0.0f);
                      block(b * rows, rows_of(b), sums + b * size);
                    }
                  });
  for (int64_t b = 0; b < blocks; ++b) merge(rows_of(b), sums + b * size);
}

// Calls body(c, offset, count) for the stretches of each channel that are side by side; different
// channels in parallel, one channel's in order.
template <typename Body>
void ForStretches(KernelContext& ctx, const ChannelLayout& layout, double cost, Body body) {
  ctx.ParallelFor(layout.channels, cost * static_cast<double>(layout.count()) + 1,
                  [&](int64_t begin, int64_t end) {
                    for (int64_t c = begin; c < end; ++c) {
                      for (int64_t n = 0; n < layout.outer; ++n) {
                        const int64_t plane = (n * layout.channels + c) * layout.inner;
                        for (int64_t i = 0; i < layout.inner; i += ChannelLayout::kStretch) {
                          body(c, plane + i, std::min(ChannelLayout::kStretch, layout.inner - i));
                        }
                      }
                    }
                  });
}

}  // namespace sextant

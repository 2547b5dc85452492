// The arithmetic of Winograd's F(4x4, 3x3) and F(2x2, 5x5) on blocked images [c / block, h, w,
// block], by SIMD that is chosen at run time.
//
// A tile is 4x4 or 2x2 outputs, computed from 6x6 inputs. In the transformed domain it has 36
// values per channel, and the convolution is 36 independent matrix products over the channels with
// 4 or 2.8 times fewer multiplications. Transformed images are [36][c / block][tiles][block], each
// of the 36 parts "part" floats apart.
#pragma once

#include <cstdint>

namespace sextant::winograd {

constexpr int kParts = 36;

// What is done to an output before it is stored, in this order.
struct Epilogue {
  const float* bias = nullptr;  // of the block's channels
  bool sum = false;             // adds what is there
  bool relu = false;
};

// What depends on the size of the filter.
struct FilterKernels {
  int64_t tile = 0;  // outputs along an axis
  // The outputs of the tile at (row, column), those outside the image left out.
  void (*transform_output)(const float* from, int64_t part, float* image, int64_t h, int64_t w,
                           int64_t row, int64_t column, const Epilogue& epilogue);
  // The transform of the gradient of a tile's outputs, zero outside the image.
  void (*transform_gradient)(const float* image, int64_t h, int64_t w, int64_t row, int64_t column,
                             float* to, int64_t part);
  // G f G^T of one filter per lane: f[p][q] at filter + (size * p + q) * step; to[part * 36].
  void (*transform_filter)(const float* filter, int64_t step, float* to, int64_t part);
  // Its transpose: f = G^T x G.
  void (*transform_filter_back)(const float* from, int64_t part, float* filter, int64_t step);
};

struct Kernels {
  int64_t lanes = 0;  // the block they work with

  // The 6x6 inputs at (row, column), zero outside the image, of one block; to[part * 36].
  void (*transform_input)(const float* image, int64_t h, int64_t w, int64_t row, int64_t column,
                          float* to, int64_t part);
  // out[o][t] = sum over c of in[c][t] * filter[o / group][c][o % group] for all channels of one
  // part. "filter" as PackedIndex places it; in and out are [blocks][stride][block].
  void (*multiply)(const float* in, const float* filter, float* out, int64_t in_blocks,
                   int64_t out_blocks, int64_t tiles, int64_t stride);
  // sum[i][o] += sum over t of in[i][t] * out[o][t], sum being [in channels][out channels].
  void (*accumulate)(const float* in, const float* out, float* sum, int64_t in_blocks,
                     int64_t out_blocks, int64_t tiles, int64_t stride);

  FilterKernels by3, by5;
  const FilterKernels& For(int64_t filter) const { return filter == 5 ? by5 : by3; }
};

// lanes is 0 where vectors are too short for it to pay.
const Kernels& BestKernels();

// Output blocks that "multiply" takes together.
constexpr int64_t FilterGroup(int64_t out_blocks) { return out_blocks % 2 == 0 ? 2 : 1; }

// The place of (in, out) in one part of a packed filter.
inline int64_t PackedIndex(int64_t in, int64_t out, int64_t in_channels, int64_t out_blocks,
                           int64_t block) {
  const int64_t width = FilterGroup(out_blocks) * block;
  return (out / width * in_channels + in) * width + out % width;
}

}  // namespace sextant::winograd

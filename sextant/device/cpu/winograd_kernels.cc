// Winograd's minimal filtering: n outputs of a filter of r taps are the product of two polynomials,
// which is known from its values at n + r - 1 points. Evaluate both there (transforms of small
// constants only), multiply point by point, interpolate. With the points 0, 1, -1 and infinity,
// F(2, 3) has 4 multiplications in place of 6 for inputs d and filter g:
//
//   m1 = (d0 - d2) g0                   m2 = (d1 + d2) (g0 + g1 + g2) / 2
//   m4 = (d1 - d3) g2                   m3 = (d2 - d1) (g0 - g1 + g2) / 2
//   y0 = m1 + m2 + m3                   y1 = m2 - m3 - m4
//
// In matrices y = A^T [(G g) * (B^T d)], in two dimensions Y = A^T [(G g G^T) * (B^T d B)] A, where
// * is element by element. Here the points are 0, 1, -1, 2, -2 and infinity: 6 values an axis, so
// tiles of 4x4 outputs for 3x3 filters and of 2x2 for 5x5, with one and the same B. The product *
// is summed over input channels, so it is 36 matrix products [tiles x in] * [in x out].
//
// The gradient of the filter transposes the chain: dg = G^T [(A dY A^T) * (B^T d B)] G, summed over
// tiles; that of the input is a convolution of dY with the filter turned by half a turn.
//
// Invariant: lanes hold the channels of one block, so a transform works on all of them at once and
// never moves data across lanes. Larger tiles would save more multiplications, but their points
// (up to 3 or 1/2) cost more digits: F(4x4, 3x3) loses about a factor of 3.
//
// A. Lavin, S. Gray: Fast Algorithms for Convolutional Neural Networks, CVPR 2016.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/device/cpu/winograd_kernels.cc"
#include "sextant/device/cpu/winograd_kernels.h"

#include <array>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::winograd {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

inline V Times(float factor, V x) { return hn::Mul(hn::Set(D(), factor), x); }
inline V Plus(V sum, float factor, V x) { return hn::MulAdd(hn::Set(D(), factor), x, sum); }

// y = B^T x
inline void InputRow(V x0, V x1, V x2, V x3, V x4, V x5, V y[6]) {
  const V even = Plus(x4, -4.0f, x2), odd = Plus(x3, -4.0f, x1);
  const V even2 = hn::Sub(x4, x2), odd2 = Times(2.0f, hn::Sub(x3, x1));
  y[0] = Plus(Plus(x4, -5.0f, x2), 4.0f, x0);
  y[1] = hn::Add(even, odd);
  y[2] = hn::Sub(even, odd);
  y[3] = hn::Add(even2, odd2);
  y[4] = hn::Sub(even2, odd2);
  y[5] = Plus(Plus(x5, -5.0f, x3), 4.0f, x1);
}

// With 6 points a tile and a filter have 7 values together.
template <int filter>
constexpr int kTileOf = 7 - filter;

// y = A^T x
template <int tile>
inline void OutputRow(V x0, V x1, V x2, V x3, V x4, V x5, V y[tile]) {
  const V sum = hn::Add(x1, x2), difference = hn::Sub(x1, x2);
  const V sum2 = hn::Add(x3, x4), difference2 = hn::Sub(x3, x4);
  y[0] = hn::Add(hn::Add(x0, sum), sum2);
  y[1] = Plus(difference, 2.0f, difference2);
  if constexpr (tile == 4) {
    y[2] = Plus(sum, 4.0f, sum2);
    y[3] = Plus(hn::Add(difference, x5), 8.0f, difference2);
  } else {
    y[1] = hn::Add(y[1], x5);
  }
}

// y = A x
template <int tile>
inline void GradientRow(const V x[tile], V y[6]) {
  V even = x[0], odd = x[1], even2 = x[0], odd2 = x[1];
  if constexpr (tile == 4) {
    even = hn::Add(x[0], x[2]);
    odd = hn::Add(x[1], x[3]);
    even2 = Plus(x[0], 4.0f, x[2]);
    odd2 = Plus(x[1], 4.0f, x[3]);
  }
  odd2 = Times(2.0f, odd2);
  y[0] = x[0];
  y[1] = hn::Add(even, odd);
  y[2] = hn::Sub(even, odd);
  y[3] = hn::Add(even2, odd2);
  y[4] = hn::Sub(even2, odd2);
  y[5] = x[tile - 1];
}

// G: powers of the points 0, 1, -1, 2, -2 and infinity, scaled.
template <int filter>
constexpr std::array<std::array<float, filter>, 6> FilterMatrix() {
  constexpr float kPoints[] = {0, 1, -1, 2, -2};
  constexpr float kScales[] = {1.0f / 4, -1.0f / 6, -1.0f / 6, 1.0f / 24, 1.0f / 24};
  std::array<std::array<float, filter>, 6> g{};
  for (int i = 0; i < 5; ++i) {
    g[i][0] = kScales[i];
    for (int j = 1; j < filter; ++j) g[i][j] = g[i][j - 1] * kPoints[i];
  }
  g[5][filter - 1] = 1;
  return g;
}
template <int filter>
constexpr auto kG = FilterMatrix<filter>();

template <int size>
void TransformFilter(const float* filter, int64_t step, float* to, int64_t part) {
  const D d;
  V half[6][size];
  for (int j = 0; j < size; ++j) {
    for (int i = 0; i < 6; ++i) {
      V sum = Times(kG<size>[i][0], hn::LoadU(d, filter + j * step));
      for (int p = 1; p < size; ++p)
        sum = Plus(sum, kG<size>[i][p], hn::LoadU(d, filter + (size * p + j) * step));
      half[i][j] = sum;
    }
  }
  for (int i = 0; i < 6; ++i) {
    for (int j = 0; j < 6; ++j) {
      V sum = Times(kG<size>[j][0], half[i][0]);
      for (int q = 1; q < size; ++q) sum = Plus(sum, kG<size>[j][q], half[i][q]);
      hn::StoreU(sum, d, to + (6 * i + j) * part);
    }
  }
}

template <int size>
void TransformFilterBack(const float* from, int64_t part, float* filter, int64_t step) {
  const D d;
  V half[size][6];
  for (int j = 0; j < 6; ++j) {
    for (int p = 0; p < size; ++p) {
      V sum = hn::Zero(d);
      for (int i = 0; i < 6; ++i)
        sum = Plus(sum, kG<size>[i][p], hn::LoadU(d, from + (6 * i + j) * part));
      half[p][j] = sum;
    }
  }
  for (int p = 0; p < size; ++p) {
    for (int q = 0; q < size; ++q) {
      V sum = hn::Zero(d);
      for (int j = 0; j < 6; ++j) sum = Plus(sum, kG<size>[j][q], half[p][j]);
      hn::StoreU(sum, d, filter + (size * p + q) * step);
    }
  }
}

// The pixels of a size x size square, zero outside the image.
template <int size>
void LoadSquare(const float* image, int64_t h, int64_t w, int64_t row, int64_t column,
                V square[size][size]) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool inside = row >= 0 && column >= 0 && row + size <= h && column + size <= w;
  for (int i = 0; i < size; ++i) {
    const float* from = image + ((row + i) * w + column) * lanes;
    for (int j = 0; j < size; ++j) {
      const bool here =
          inside || (row + i >= 0 && row + i < h && column + j >= 0 && column + j < w);
      square[i][j] = here ? hn::Load(d, from + j * lanes) : hn::Zero(d);
    }
  }
}

void TransformInput(const float* image, int64_t h, int64_t w, int64_t row, int64_t column,
                    float* to, int64_t part) {
  const D d;
  V x[6][6], y[6];
  LoadSquare<6>(image, h, w, row, column, x);
  for (int j = 0; j < 6; ++j) {
    InputRow(x[0][j], x[1][j], x[2][j], x[3][j], x[4][j], x[5][j], y);
    for (int i = 0; i < 6; ++i) x[i][j] = y[i];
  }
  for (int i = 0; i < 6; ++i) {
    InputRow(x[i][0], x[i][1], x[i][2], x[i][3], x[i][4], x[i][5], y);
    for (int j = 0; j < 6; ++j) hn::Store(y[j], d, to + (6 * i + j) * part);
  }
}

template <int tile>
void TransformGradient(const float* image, int64_t h, int64_t w, int64_t row, int64_t column,
                       float* to, int64_t part) {
  const D d;
  V x[tile][tile], half[6][tile], y[6];
  LoadSquare<tile>(image, h, w, row, column, x);
  for (int j = 0; j < tile; ++j) {
    V line[tile];
    for (int i = 0; i < tile; ++i) line[i] = x[i][j];
    GradientRow<tile>(line, y);
    for (int i = 0; i < 6; ++i) half[i][j] = y[i];
  }
  for (int i = 0; i < 6; ++i) {
    GradientRow<tile>(half[i], y);
    for (int j = 0; j < 6; ++j) hn::Store(y[j], d, to + (6 * i + j) * part);
  }
}

template <int tile>
void TransformOutput(const float* from, int64_t part, float* image, int64_t h, int64_t w,
                     int64_t row, int64_t column, const Epilogue& epilogue) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V half[tile][6], y[tile];
  for (int j = 0; j < 6; ++j) {
    const auto at = [&](int i) { return hn::Load(d, from + (6 * i + j) * part); };
    OutputRow<tile>(at(0), at(1), at(2), at(3), at(4), at(5), y);
    for (int i = 0; i < tile; ++i) half[i][j] = y[i];
  }
  const V bias = epilogue.bias != nullptr ? hn::LoadU(d, epilogue.bias) : hn::Zero(d);
  for (int i = 0; i < tile && row + i < h; ++i) {
    OutputRow<tile>(half[i][0], half[i][1], half[i][2], half[i][3], half[i][4], half[i][5], y);
    float* to = image + ((row + i) * w + column) * lanes;
    for (int j = 0; j < tile && column + j < w; ++j) {
      V v = hn::Add(y[j], bias);
      if (epilogue.sum) v = hn::Add(v, hn::Load(d, to + j * lanes));
      if (epilogue.relu) v = hn::IfThenElse(hn::Lt(v, hn::Zero(d)), hn::Zero(d), v);
      hn::Store(v, d, to + j * lanes);
    }
  }
}

// Tiles that a product takes together: with their sums, one filter vector per block and one input
// they fill the registers.
constexpr int kRegisterTiles = HWY_TARGET <= HWY_AVX3 ? 12 : 6;

template <int tiles, int blocks>
void MultiplyTiles(const float* in, const float* filter, float* out, int64_t in_blocks,
                   int64_t stride) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V sum[tiles][blocks];
  for (int t = 0; t < tiles; ++t) {
    for (int b = 0; b < blocks; ++b) sum[t][b] = hn::Zero(d);
  }
  for (int64_t block = 0; block < in_blocks; ++block, in += stride * lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane, filter += blocks * lanes) {
      V f[blocks];
      for (int b = 0; b < blocks; ++b) f[b] = hn::Load(d, filter + b * lanes);
      for (int t = 0; t < tiles; ++t) {
        const V x = hn::Set(d, in[t * lanes + lane]);
        for (int b = 0; b < blocks; ++b) sum[t][b] = hn::MulAdd(x, f[b], sum[t][b]);
      }
    }
  }
  for (int t = 0; t < tiles; ++t) {
    for (int b = 0; b < blocks; ++b) hn::Store(sum[t][b], d, out + (b * stride + t) * lanes);
  }
}

template <int blocks>
void MultiplyGroup(const float* in, const float* filter, float* out, int64_t in_blocks,
                   int64_t tiles, int64_t stride) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t t = 0;
  for (; t + kRegisterTiles <= tiles; t += kRegisterTiles) {
    MultiplyTiles<kRegisterTiles, blocks>(in + t * lanes, filter, out + t * lanes, in_blocks,
                                          stride);
  }
  for (; t + 2 <= tiles; t += 2) {
    MultiplyTiles<2, blocks>(in + t * lanes, filter, out + t * lanes, in_blocks, stride);
  }
  if (t < tiles)
    MultiplyTiles<1, blocks>(in + t * lanes, filter, out + t * lanes, in_blocks, stride);
}

void Multiply(const float* in, const float* filter, float* out, int64_t in_blocks,
              int64_t out_blocks, int64_t tiles, int64_t stride) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const int64_t group = FilterGroup(out_blocks);
  for (int64_t b = 0; b < out_blocks; b += group) {
    const float* f = filter + b * lanes * in_blocks * lanes;
    float* o = out + b * stride * lanes;
    if (group == 2) {
      MultiplyGroup<2>(in, f, o, in_blocks, tiles, stride);
    } else {
      MultiplyGroup<1>(in, f, o, in_blocks, tiles, stride);
    }
  }
}

template <int channels, int blocks>
void AccumulateChannels(const float* in, const float* out, float* sum, int64_t out_channels,
                        int64_t tiles, int64_t stride) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V total[channels][blocks];
  for (int c = 0; c < channels; ++c) {
    for (int b = 0; b < blocks; ++b) total[c][b] = hn::LoadU(d, sum + c * out_channels + b * lanes);
  }
  for (int64_t t = 0; t < tiles; ++t, in += lanes, out += lanes) {
    V o[blocks];
    for (int b = 0; b < blocks; ++b) o[b] = hn::Load(d, out + b * stride * lanes);
    for (int c = 0; c < channels; ++c) {
      const V x = hn::Set(d, in[c]);
      for (int b = 0; b < blocks; ++b) total[c][b] = hn::MulAdd(x, o[b], total[c][b]);
    }
  }
  for (int c = 0; c < channels; ++c) {
    for (int b = 0; b < blocks; ++b) hn::StoreU(total[c][b], d, sum + c * out_channels + b * lanes);
  }
}

void Accumulate(const float* in, const float* out, float* sum, int64_t in_blocks,
                int64_t out_blocks, int64_t tiles, int64_t stride) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  const int64_t group = FilterGroup(out_blocks), out_channels = out_blocks * lanes;
  for (int64_t i = 0; i < in_blocks * lanes; i += 4) {
    const float* x = in + i / lanes * stride * lanes + i % lanes;
    for (int64_t b = 0; b < out_blocks; b += group) {
      const float* y = out + b * stride * lanes;
      float* s = sum + i * out_channels + b * lanes;
      if (group == 2) {
        AccumulateChannels<4, 2>(x, y, s, out_channels, tiles, stride);
      } else {
        AccumulateChannels<4, 1>(x, y, s, out_channels, tiles, stride);
      }
    }
  }
}

}  // namespace

template <int filter>
FilterKernels KernelsOf() {
  return {kTileOf<filter>, TransformOutput<kTileOf<filter>>, TransformGradient<kTileOf<filter>>,
          TransformFilter<filter>, TransformFilterBack<filter>};
}

Kernels GetKernels() {
  Kernels kernels{0, TransformInput, Multiply, Accumulate, KernelsOf<3>(), KernelsOf<5>()};
  // Shorter vectors have too few registers for it to beat oneDNN.
  if (HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3)
    kernels.lanes = static_cast<int64_t>(hn::Lanes(D()));
  return kernels;
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::winograd
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::winograd {

HWY_EXPORT(GetKernels);

const Kernels& BestKernels() {
  static const Kernels kernels = HWY_DYNAMIC_DISPATCH(GetKernels)();
  return kernels;
}

}  // namespace sextant::winograd
#endif

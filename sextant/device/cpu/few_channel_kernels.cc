#include "sextant/device/cpu/few_channel_kernels.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/device/cpu/few_channel_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::few_channels {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// With two blocks their sums, a vector of each and one of x fill the registers.
constexpr int kTaps = 6;

template <int taps, int blocks>
HWY_INLINE void AccumulateTaps(const float* HWY_RESTRICT x, int64_t step,
                               const float* HWY_RESTRICT y, int64_t block_stride, int64_t pixels,
                               float* HWY_RESTRICT sum, int64_t sum_stride) {
  const D d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  V total[taps][blocks];
#pragma GCC unroll 6
  for (int t = 0; t < taps; ++t) {
#pragma GCC unroll 2
    for (int b = 0; b < blocks; ++b) total[t][b] = hn::LoadU(d, sum + t * sum_stride + b * lanes);
  }
  for (int64_t p = 0; p < pixels; ++p, x += step, y += lanes) {
    V v[blocks];
#pragma GCC unroll 2
    for (int b = 0; b < blocks; ++b) v[b] = hn::LoadU(d, y + b * block_stride);
#pragma GCC unroll 6
    for (int t = 0; t < taps; ++t) {
      const V value = hn::Set(d, x[t]);
#pragma GCC unroll 2
      for (int b = 0; b < blocks; ++b) total[t][b] = hn::MulAdd(value, v[b], total[t][b]);
    }
  }
#pragma GCC unroll 6
  for (int t = 0; t < taps; ++t) {
#pragma GCC unroll 2
    for (int b = 0; b < blocks; ++b) hn::StoreU(total[t][b], d, sum + t * sum_stride + b * lanes);
  }
}

template <int blocks>
void AccumulateBlocks(const float* x, int64_t step, int64_t taps, const float* y,
                      int64_t block_stride, int64_t pixels, float* sum, int64_t sum_stride) {
  using Function = void (*)(const float*, int64_t, const float*, int64_t, int64_t, float*, int64_t);
  static constexpr Function kFunctions[kTaps] = {
      AccumulateTaps<1, blocks>, AccumulateTaps<2, blocks>, AccumulateTaps<3, blocks>,
      AccumulateTaps<4, blocks>, AccumulateTaps<5, blocks>, AccumulateTaps<6, blocks>};
  // Parts of equal size.
  for (int64_t parts = (taps + kTaps - 1) / kTaps, t = 0; parts > 0; --parts) {
    const int64_t count = (taps - t + parts - 1) / parts;
    kFunctions[count - 1](x + t, step, y, block_stride, pixels, sum + t * sum_stride, sum_stride);
    t += count;
  }
}

void Accumulate(const float* x, int64_t step, int64_t taps, const float* y, int64_t block_stride,
                int64_t blocks, int64_t pixels, float* sum) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(D()));
  int64_t b = 0;
  for (; b + 2 <= blocks; b += 2) {
    AccumulateBlocks<2>(x, step, taps, y + b * block_stride, block_stride, pixels, sum + b * lanes,
                        blocks * lanes);
  }
  if (b < blocks) {
    AccumulateBlocks<1>(x, step, taps, y + b * block_stride, block_stride, pixels, sum + b * lanes,
                        blocks * lanes);
  }
}

}  // namespace

Kernels GetKernels() {
  const bool suits = HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3;
  return {suits ? static_cast<int64_t>(hn::Lanes(D())) : 0, Accumulate};
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::few_channels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::few_channels {

HWY_EXPORT(GetKernels);

const Kernels& BestKernels() {
  static const Kernels kernels = HWY_DYNAMIC_DISPATCH(GetKernels)();
  return kernels;
}

}  // namespace sextant::few_channels
#endif

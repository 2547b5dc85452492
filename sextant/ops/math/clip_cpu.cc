#include "sextant/base/error.h"
#include "sextant/ops/math/elementwise_kernel.h"

namespace sextant {
namespace {

template <typename T>
T Clip(T value, T low, T high) {
  const auto x = ToArithmetic(value), l = ToArithmetic(low), h = ToArithmetic(high);
  const auto from_above = x > h ? h : x;  // NaN stays
  return T(from_above < l ? l : from_above);
}

template <typename T>
void ClipByValue(KernelContext& ctx) {
  const Tensor& t = ctx.input(0);
  const auto step_of = [&](const Tensor& bound) -> int64_t {
    if (bound.rank() == 0) return 0;
    if (bound.shape() == t.shape()) return 1;
    throw InvalidArgument(
        "clip_value_min and clip_value_max must be either of the same shape as input, {}, or a "
        "scalar, not {} and {}",
        t.shape().ToString(), ctx.input(1).shape().ToString(), ctx.input(2).shape().ToString());
  };
  const int64_t low_step = step_of(ctx.input(1)), high_step = step_of(ctx.input(2));
  const T* x = t.data<T>();
  const T* low = ctx.input(1).data<T>();
  const T* high = ctx.input(2).data<T>();
  T* out = ctx.AllocateOutput(0, t.shape()).template data<T>();
  ctx.ParallelFor(t.num_elements(), kArithmeticCost, [&](int64_t begin, int64_t end) {
    if (low_step == 0 && high_step == 0) {
      const T all_low = *low, all_high = *high;
      for (int64_t i = begin; i < end; ++i) out[i] = Clip(x[i], all_low, all_high);
      return;
    }
    for (int64_t i = begin; i < end; ++i) {
      out[i] = Clip(x[i], low[i * low_step], high[i * high_step]);
    }
  });
}

}  // namespace

void RegisterClipCpu(KernelRegistry& registry) {
  ForTypes<Half, BFloat16, float, double, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t,
           uint32_t, uint64_t>([&]<typename T>() {
    registry.Add(KernelDef("ClipByValue").Type<T>("T").InPlace(0, 0).Function(ClipByValue<T>));
  });
}

}  // namespace sextant

#include "sextant/ops/math/broadcast_plan.h"
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
  const BroadcastPlan plan(t.shape(), ctx.input(1).shape(), ctx.input(2).shape());
  if (!(plan.output() == t.shape())) {
    throw InvalidArgument("the bounds must broadcast to the shape of t, {}, got {} and {}",
                          t.shape().ToString(), ctx.input(1).shape().ToString(),
                          ctx.input(2).shape().ToString());
  }
  const T* x = t.data<T>();
  const T* low = ctx.input(1).data<T>();
  const T* high = ctx.input(2).data<T>();
  T* out = ctx.AllocateOutput(0, t.shape()).template data<T>();
  const int64_t size = plan.row_size(), low_step = plan.step(1), high_step = plan.step(2);
  const auto clip_row = [&](int64_t first, int64_t count, int64_t l, int64_t h) {
    if (low_step == 0 && high_step == 0) {
      const T row_low = low[l], row_high = high[h];
      for (int64_t i = first; i < first + count; ++i) out[i] = Clip(x[i], row_low, row_high);
      return;
    }
    for (int64_t i = 0; i < count; ++i) {
      out[first + i] = Clip(x[first + i], low[l + i * low_step], high[h + i * high_step]);
    }
  };
  if (plan.num_rows() == 1) {
    return ctx.ParallelFor(size, kArithmeticCost, [&](int64_t begin, int64_t end) {
      clip_row(begin, end - begin, begin * low_step, begin * high_step);
    });
  }
  ctx.ParallelFor(plan.num_rows(), static_cast<double>(size), [&](int64_t begin, int64_t end) {
    plan.ForRows(begin, end, [&](int64_t first, const int64_t* offsets) {
      clip_row(first, size, offsets[1], offsets[2]);
    });
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

#include "sextant/base/error.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/math/range_count.h"
#include "sextant/ops/math/wrapping.h"

namespace sextant {
namespace {

template <typename T>
using RangeArithmetic =
    std::conditional_t<std::is_integral_v<T>, int64_t,
                       std::conditional_t<std::is_same_v<T, double>, double, float>>;

template <typename T>
void Range(KernelContext& ctx) {
  using W = RangeArithmetic<T>;
  const char* const names[] = {"start", "limit", "delta"};
  const auto value = [&](int i) {
    const Tensor& input = ctx.input(i);
    if (input.num_elements() != 1 || input.rank() > 1) {
      throw InvalidArgument("{} must be a scalar, not shape {}", names[i],
                            input.shape().ToString());
    }
    return static_cast<W>(*input.data<T>());
  };
  const W start = value(0), delta = value(2);
  const int64_t count = CountSteps(start, value(1), delta);
  T* out = ctx.AllocateOutput(0, {count}).template data<T>();
  for (int64_t i = 0; i < count; ++i) {
    out[i] = static_cast<T>(Wrapping::Add(start, Wrapping::Mul(delta, static_cast<W>(i))));
  }
}

template <typename T>
void LinSpace(KernelContext& ctx) {
  using W = RangeArithmetic<T>;
  const char* const names[] = {"start", "stop", "num"};
  for (int i = 0; i < 3; ++i) {
    if (ctx.input(i).rank() != 0) {
      throw InvalidArgument("{} must be a scalar, not shape {}", names[i],
                            ctx.input(i).shape().ToString());
    }
  }
  const int64_t num = IndexAt(ctx.input(2), 0);
  if (num <= 0) throw InvalidArgument("Requires num > 0: {}", num);
  const W start = static_cast<W>(ctx.input(0).scalar<T>());
  const W stop = static_cast<W>(ctx.input(1).scalar<T>());
  T* out = ctx.AllocateOutput(0, {num}).template data<T>();
  const W step = num > 1 ? (stop - start) / static_cast<W>(num - 1) : W(0);
  out[0] = static_cast<T>(start);  // also where the step is infinite
  for (int64_t i = 1; i < num; ++i) out[i] = static_cast<T>(start + step * static_cast<W>(i));
  if (num > 1) out[num - 1] = static_cast<T>(stop);
}

}  // namespace

void RegisterRangeCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint16_t, uint32_t>(
      [&]<typename T>() { registry.Add(KernelDef("Range").Type<T>("Tidx").Function(Range<T>)); });
  ForTypes<float, double, Half, BFloat16>([&]<typename T>() {
    registry.Add(KernelDef("LinSpace").Type<T>("T").Function(LinSpace<T>));
  });
}

}  // namespace sextant

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/training/apply_proximal_cpu.cc"
#include "hwy/foreach_target.h"
#include "sextant/base/error.h"
#include "sextant/ops/training/update_kernel.h"
#include "sextant/ops/training/update_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

// The point nearest to "value" under the penalties l1 and l2 at this rate.
template <typename N>
N Shrink(N value, N rate, N l1, N l2, bool has_l1) {
  if (has_l1) value = Sign(value) * Max(Abs(value) - rate * l1, N(0));
  return value / (N(1) + l2 * rate);
}

template <typename E>
struct ProximalGradientDescent {
  using N = typename E::Number;
  static constexpr int kVariables = 1;
  explicit ProximalGradientDescent(const Scalars<E>& s)
      : alpha(s[0]), l1(s[1]), l2(s[2]), has_l1(s.value(1) > 0) {}
  void operator()(N grad, N& var) const { var = Shrink(var - grad * alpha, alpha, l1, l2, has_l1); }
  const N alpha, l1, l2;
  const bool has_l1;
};

template <typename E>
struct ProximalAdagrad {
  using N = typename E::Number;
  static constexpr int kVariables = 2;
  explicit ProximalAdagrad(const Scalars<E>& s)
      : lr(s[0]), l1(s[1]), l2(s[2]), has_l1(s.value(1) > 0) {}
  void operator()(N grad, N& var, N& accum) const {
    accum = accum + grad * grad;
    const N rate = lr / Sqrt(accum);
    var = Shrink(var - grad * rate, rate, l1, l2, has_l1);
  }
  const N lr, l1, l2;
  const bool has_l1;
};

UpdateLoop FloatLoop(int rule) {
  return FloatLoopAt<ProximalGradientDescent, ProximalAdagrad>(rule);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
HWY_EXPORT(FloatLoop);

namespace {
void CheckAdagrad(std::span<const double> scalars, bool, bool) {
  const double lr = scalars[0], l1 = scalars[1], l2 = scalars[2];
  if (!(lr > 0)) throw InvalidArgument("lr must be positive, got {}", lr);
  if (!(l1 >= 0)) throw InvalidArgument("l1 must not be negative, got {}", l1);
  if (!(l2 >= 0)) throw InvalidArgument("l2 must not be negative, got {}", l2);
}
}  // namespace

const std::vector<UpdateRule>& ProximalRules() {
  using namespace HWY_NAMESPACE;  // NOLINT: the rules are made for each instruction set
  static const auto& rules = *new auto(WithFloatLoops(
      HWY_DYNAMIC_DISPATCH(FloatLoop),
      {
          MakeRule<ProximalGradientDescent, double>({.name = "ProximalGradientDescent"}),
          MakeRule<ProximalAdagrad, double>(
              {.name = "ProximalAdagrad", .cost = 2, .check = CheckAdagrad}),
      }));
  return rules;
}

void RegisterApplyProximalCpu(KernelRegistry& registry) {
  AddUpdateKernels(registry, ProximalRules());
}

}  // namespace sextant
#endif

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/training/apply_adam_cpu.cc"
#include "hwy/foreach_target.h"
#include "sextant/ops/training/update_kernel.h"
#include "sextant/ops/training/update_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

template <typename E>
struct Adam {
  using N = typename E::Number;
  static constexpr int kVariables = 3;
  explicit Adam(const Scalars<E>& s)
      : alpha(s[2] * Sqrt(N(1) - s[1]) / (N(1) - s[0])),
        beta1(s[3]),
        beta2(s[4]),
        epsilon(s[5]),
        nesterov(s.flag()) {}
  void operator()(N grad, N& var, N& m, N& v) const {
    m = m + (grad - m) * (N(1) - beta1);
    v = v + (grad * grad - v) * (N(1) - beta2);
    const N direction = nesterov ? grad * (N(1) - beta1) + beta1 * m : m;
    var = var - direction * alpha / (Sqrt(v) + epsilon);
  }
  const N alpha, beta1, beta2, epsilon;
  const bool nesterov;
};

template <typename E>
struct AdamWithAmsgrad {
  using N = typename E::Number;
  static constexpr int kVariables = 4;
  explicit AdamWithAmsgrad(const Scalars<E>& s)
      : alpha(s[2] * Sqrt(N(1) - s[1]) / (N(1) - s[0])), beta1(s[3]), beta2(s[4]), epsilon(s[5]) {}
  void operator()(N grad, N& var, N& m, N& v, N& vhat) const {
    m = m + (grad - m) * (N(1) - beta1);
    v = v + (grad * grad - v) * (N(1) - beta2);
    vhat = Max(vhat, v);
    var = var - m * alpha / (Sqrt(vhat) + epsilon);
  }
  const N alpha, beta1, beta2, epsilon;
};

template <typename E>
struct AdaMax {
  using N = typename E::Number;
  static constexpr int kVariables = 3;
  explicit AdaMax(const Scalars<E>& s)
      : rate(s[1] / (N(1) - s[0])), beta1(s[2]), beta2(s[3]), epsilon(s[4]) {}
  void operator()(N grad, N& var, N& m, N& v) const {
    m = m + (grad - m) * (N(1) - beta1);
    v = Max(beta2 * v, Abs(grad));
    var = var - rate * (m / (v + epsilon));
  }
  const N rate, beta1, beta2, epsilon;
};

UpdateLoop FloatLoop(int rule) { return FloatLoopAt<Adam, AdamWithAmsgrad, AdaMax>(rule); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
HWY_EXPORT(FloatLoop);

const std::vector<UpdateRule>& AdamRules() {
  using namespace HWY_NAMESPACE;  // NOLINT: the rules are made for each instruction set
  static const auto& rules = *new auto(WithFloatLoops(
      HWY_DYNAMIC_DISPATCH(FloatLoop),
      {
          ComplexRule<Adam>({.name = "Adam", .flag = "use_nesterov", .cost = 2, .sparse = false}),
          RealRule<AdamWithAmsgrad>({.name = "AdamWithAmsgrad", .cost = 2, .sparse = false}),
          RealRule<AdaMax>({.name = "AdaMax", .cost = 2, .sparse = false}),
      }));
  return rules;
}

void RegisterApplyAdamCpu(KernelRegistry& registry) { AddUpdateKernels(registry, AdamRules()); }

}  // namespace sextant
#endif

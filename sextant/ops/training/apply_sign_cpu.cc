#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/training/apply_sign_cpu.cc"
#include "hwy/foreach_target.h"
#include "sextant/ops/training/update_kernel.h"
#include "sextant/ops/training/update_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

template <typename E>
struct AddSign {
  using N = typename E::Number;
  static constexpr int kVariables = 2;
  explicit AddSign(const Scalars<E>& s) : lr(s[0]), alpha(s[1]), sign_decay(s[2]), beta(s[3]) {}
  void operator()(N grad, N& var, N& m) const {
    m = m * beta + grad * (N(1) - beta);
    var = var - lr * (alpha + sign_decay * (Sign(grad) * Sign(m))) * grad;
  }
  const N lr, alpha, sign_decay, beta;
};

template <typename E>
struct PowerSign {
  using N = typename E::Number;
  static constexpr int kVariables = 2;
  explicit PowerSign(const Scalars<E>& s) : lr(s[0]), logbase(s[1]), sign_decay(s[2]), beta(s[3]) {}
  void operator()(N grad, N& var, N& m) const {
    m = m * beta + grad * (N(1) - beta);
    var = var - lr * Exp(logbase * sign_decay * (Sign(grad) * Sign(m))) * grad;
  }
  const N lr, logbase, sign_decay, beta;
};

UpdateLoop FloatLoop(int rule) { return FloatLoopAt<AddSign, PowerSign>(rule); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
HWY_EXPORT(FloatLoop);

const std::vector<UpdateRule>& SignRules() {
  using namespace HWY_NAMESPACE;  // NOLINT: the rules are made for each instruction set
  static const auto& rules = *new auto(
      WithFloatLoops(HWY_DYNAMIC_DISPATCH(FloatLoop),
                     {
                         RealRule<AddSign>({.name = "AddSign", .sparse = false}),
                         RealRule<PowerSign>({.name = "PowerSign", .cost = 10, .sparse = false}),
                     }));
  return rules;
}

void RegisterApplySignCpu(KernelRegistry& registry) { AddUpdateKernels(registry, SignRules()); }

}  // namespace sextant
#endif

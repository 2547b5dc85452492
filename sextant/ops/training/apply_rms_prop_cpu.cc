#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/training/apply_rms_prop_cpu.cc"
#include "hwy/foreach_target.h"
#include "sextant/ops/training/update_kernel.h"
#include "sextant/ops/training/update_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

template <typename E>
struct RmsProp {
  using N = typename E::Number;
  static constexpr int kVariables = 3;
  explicit RmsProp(const Scalars<E>& s) : lr(s[0]), rho(s[1]), momentum(s[2]), epsilon(s[3]) {}
  void operator()(N grad, N& var, N& ms, N& mom) const {
    ms = ms + (grad * grad - ms) * (N(1) - rho);
    mom = mom * momentum + grad * lr / Sqrt(ms + epsilon);
    var = var - mom;
  }
  const N lr, rho, momentum, epsilon;
};

template <typename E>
struct CenteredRmsProp {
  using N = typename E::Number;
  static constexpr int kVariables = 4;
  explicit CenteredRmsProp(const Scalars<E>& s)
      : lr(s[0]), rho(s[1]), momentum(s[2]), epsilon(s[3]) {}
  void operator()(N grad, N& var, N& mg, N& ms, N& mom) const {
    ms = ms + (grad * grad - ms) * (N(1) - rho);
    mg = mg + (grad - mg) * (N(1) - rho);
    mom = mom * momentum + grad * lr / Sqrt(ms - mg * mg + epsilon);
    var = var - mom;
  }
  const N lr, rho, momentum, epsilon;
};

UpdateLoop FloatLoop(int rule) { return FloatLoopAt<RmsProp, CenteredRmsProp>(rule); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
HWY_EXPORT(FloatLoop);

const std::vector<UpdateRule>& RmsPropRules() {
  using namespace HWY_NAMESPACE;  // NOLINT: the rules are made for each instruction set
  static const auto& rules = *new auto(
      WithFloatLoops(HWY_DYNAMIC_DISPATCH(FloatLoop),
                     {
                         ComplexRule<RmsProp>({.name = "RMSProp", .cost = 2}),
                         ComplexRule<CenteredRmsProp>({.name = "CenteredRMSProp", .cost = 2}),
                     }));
  return rules;
}

void RegisterApplyRmsPropCpu(KernelRegistry& registry) {
  AddUpdateKernels(registry, RmsPropRules());
}

}  // namespace sextant
#endif

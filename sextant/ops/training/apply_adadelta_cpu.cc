#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/training/apply_adadelta_cpu.cc"
#include "hwy/foreach_target.h"
#include "sextant/ops/training/update_kernel.h"
#include "sextant/ops/training/update_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

template <typename E>
struct Adadelta {
  using N = typename E::Number;
  static constexpr int kVariables = 3;
  explicit Adadelta(const Scalars<E>& s) : lr(s[0]), rho(s[1]), epsilon(s[2]) {}
  void operator()(N grad, N& var, N& accum, N& accum_update) const {
    accum = accum * rho + grad * grad * (N(1) - rho);
    const N update = Sqrt(accum_update + epsilon) / Sqrt(accum + epsilon) * grad;
    accum_update = accum_update * rho + update * update * (N(1) - rho);
    var = var - update * lr;
  }
  const N lr, rho, epsilon;
};

UpdateLoop FloatLoop(int rule) { return FloatLoopAt<Adadelta>(rule); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
HWY_EXPORT(FloatLoop);

const std::vector<UpdateRule>& AdadeltaRules() {
  using namespace HWY_NAMESPACE;  // NOLINT: the rules are made for each instruction set
  static const auto& rules = *new auto(WithFloatLoops(
      HWY_DYNAMIC_DISPATCH(FloatLoop), {
                                           ComplexRule<Adadelta>({.name = "Adadelta", .cost = 2}),
                                       }));
  return rules;
}

void RegisterApplyAdadeltaCpu(KernelRegistry& registry) {
  AddUpdateKernels(registry, AdadeltaRules());
}

}  // namespace sextant
#endif

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/training/apply_sgd_cpu.cc"
#include "hwy/foreach_target.h"
#include "sextant/ops/training/update_kernel.h"
#include "sextant/ops/training/update_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

template <typename E>
struct GradientDescent {
  using N = typename E::Number;
  static constexpr int kVariables = 1;
  explicit GradientDescent(const Scalars<E>& s) : alpha(s[0]) {}
  void operator()(N grad, N& var) const { var = var - grad * alpha; }
  const N alpha;
};

template <typename E>
struct Momentum {
  using N = typename E::Number;
  static constexpr int kVariables = 2;
  explicit Momentum(const Scalars<E>& s) : lr(s[0]), momentum(s[1]), nesterov(s.flag()) {}
  void operator()(N grad, N& var, N& accum) const {
    accum = accum * momentum + grad;
    var = var - (nesterov ? grad * lr + accum * momentum * lr : accum * lr);
  }
  const N lr, momentum;
  const bool nesterov;
};

template <typename E>
struct KerasMomentum {
  using N = typename E::Number;
  static constexpr int kVariables = 2;
  explicit KerasMomentum(const Scalars<E>& s) : lr(s[0]), momentum(s[1]), nesterov(s.flag()) {}
  void operator()(N grad, N& var, N& accum) const {
    const N move = grad * lr;
    accum = accum * momentum - move;
    var = var + (nesterov ? accum * momentum - move : accum);
  }
  const N lr, momentum;
  const bool nesterov;
};

UpdateLoop FloatLoop(int rule) {
  return FloatLoopAt<GradientDescent, Momentum, KerasMomentum>(rule);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
HWY_EXPORT(FloatLoop);

const std::vector<UpdateRule>& SgdRules() {
  using namespace HWY_NAMESPACE;  // NOLINT: the rules are made for each instruction set
  static const auto& rules = *new auto(WithFloatLoops(
      HWY_DYNAMIC_DISPATCH(FloatLoop),
      {
          ComplexRule<GradientDescent>({.name = "GradientDescent", .cost = 0.5, .sparse = false}),
          ComplexRule<Momentum>({.name = "Momentum", .flag = "use_nesterov"}),
          ComplexRule<KerasMomentum>({.name = "KerasMomentum", .flag = "use_nesterov"}),
      }));
  return rules;
}

void RegisterApplySgdCpu(KernelRegistry& registry) { AddUpdateKernels(registry, SgdRules()); }

}  // namespace sextant
#endif

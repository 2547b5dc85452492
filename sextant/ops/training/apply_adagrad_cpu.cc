#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/training/apply_adagrad_cpu.cc"
#include "hwy/foreach_target.h"
#include "sextant/ops/training/update_kernel.h"
#include "sextant/ops/training/update_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

template <typename E>
struct Adagrad {
  using N = typename E::Number;
  static constexpr int kVariables = 2;
  explicit Adagrad(const Scalars<E>& s) : lr(s[0]), update_slots(s.flag()) {}
  void operator()(N grad, N& var, N& accum) const {
    if (update_slots) accum = accum + grad * grad;
    var = var - grad * lr / Sqrt(accum);
  }
  const N lr;
  const bool update_slots;
};

template <typename E>
struct AdagradV2 {
  using N = typename E::Number;
  static constexpr int kVariables = 2;
  explicit AdagradV2(const Scalars<E>& s) : lr(s[0]), epsilon(s[1]), update_slots(s.flag()) {}
  void operator()(N grad, N& var, N& accum) const {
    if (update_slots) accum = accum + grad * grad;
    var = var - grad * lr / (Sqrt(accum) + epsilon);
  }
  const N lr, epsilon;
  const bool update_slots;
};

// Dual averaging: the variable follows from the sums of all gradients and of their squares.
template <typename E>
struct AdagradDA {
  using N = typename E::Number;
  static constexpr int kVariables = 3;
  explicit AdagradDA(const Scalars<E>& s)
      : lr(s[0]),
        l1_steps(s[1] * s.integer(3)),
        l2_steps(s[2] * s.integer(3) * s[0]),
        shrinks(s.value(1) > 0) {}
  void operator()(N grad, N& var, N& sum, N& square_sum) const {
    sum = sum + grad;
    square_sum = square_sum + grad * grad;
    const N pull = shrinks ? Sign(sum) * Max(Abs(sum) - l1_steps, N(0)) : sum;
    var = -(lr * pull) / (l2_steps + Sqrt(square_sum));
  }
  const N lr, l1_steps, l2_steps;
  const bool shrinks;
};

UpdateLoop FloatLoop(int rule) { return FloatLoopAt<Adagrad, AdagradV2, AdagradDA>(rule); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
HWY_EXPORT(FloatLoop);

const std::vector<UpdateRule>& AdagradRules() {
  using namespace HWY_NAMESPACE;  // NOLINT: the rules are made for each instruction set
  static const auto& rules = *new auto(
      WithFloatLoops(HWY_DYNAMIC_DISPATCH(FloatLoop),
                     {
                         ComplexRule<Adagrad>({.name = "Adagrad", .flag = "update_slots"}),
                         ComplexRule<AdagradV2>({.name = "AdagradV2", .flag = "update_slots"}),
                         MakeRule<AdagradDA, double>({.name = "AdagradDA", .cost = 2}),
                     }));
  return rules;
}

void RegisterApplyAdagradCpu(KernelRegistry& registry) {
  AddUpdateKernels(registry, AdagradRules());
}

}  // namespace sextant
#endif

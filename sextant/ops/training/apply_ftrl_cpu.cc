#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/ops/training/apply_ftrl_cpu.cc"
#include "hwy/foreach_target.h"
#include "sextant/base/error.h"
#include "sextant/ops/training/update_kernel.h"
#include "sextant/ops/training/update_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant {
namespace HWY_NAMESPACE {
namespace {

template <typename E, bool shrinks>
struct FollowTheLeader {
  using N = typename E::Number;
  static constexpr int kVariables = 3;
  static constexpr int kPower = shrinks ? 4 : 3;  // position of lr_power
  // A linear term that is multiplied by lr takes the place of divisions by it.
  explicit FollowTheLeader(const Scalars<E>& s)
      : grad_scale(s.flag() ? s[0] : N(1)),
        lr(s.flag() ? N(1) : s[0]),
        l1(s.flag() ? s[1] * s[0] : s[1]),
        twice_l2(s.flag() ? N(2) * s[2] * s[0] : N(2) * s[2]),
        twice_shrinkage(shrinks ? N(2) * s[3] : N(0)),
        power(-s[kPower]),
        is_root(s.value(kPower) == -0.5) {}
  void operator()(N grad, N& var, N& accum, N& linear) const {
    const N new_accum = accum + grad * grad;
    const N root = Power(new_accum);
    const N pull = shrinks ? grad + twice_shrinkage * var : grad;
    linear = linear + (pull * grad_scale - (root - Power(accum)) / lr * var);
    accum = new_accum;
    const N clipped = Max(Min(linear, l1), -l1);
    var = (clipped - linear) / (root / lr + twice_l2);
  }
  N Power(N x) const { return is_root ? Sqrt(x) : Pow(x, power); }
  const N grad_scale, lr, l1, twice_l2, twice_shrinkage, power;
  const bool is_root;
};

template <typename E>
using Ftrl = FollowTheLeader<E, false>;
template <typename E>
using FtrlV2 = FollowTheLeader<E, true>;

UpdateLoop FloatLoop(int rule) { return FloatLoopAt<Ftrl, FtrlV2>(rule); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace sextant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
HWY_EXPORT(FloatLoop);

namespace {
// Only the ops for some rows check their scalars, as in TensorFlow.
void CheckRows(std::span<const double> scalars, bool multiply_linear_by_lr, bool sparse) {
  if (!sparse) return;
  const double lr = scalars[0], power = scalars.back();
  if (!(lr > 0 || (multiply_linear_by_lr && lr == 0))) {
    throw InvalidArgument("lr must be positive, got {}", lr);
  }
  for (const double penalty : scalars.subspan(1, scalars.size() - 2)) {
    if (!(penalty >= 0)) throw InvalidArgument("a penalty must not be negative, got {}", penalty);
  }
  if (!(power <= 0)) throw InvalidArgument("lr_power must not be positive, got {}", power);
}
}  // namespace

const std::vector<UpdateRule>& FtrlRules() {
  using namespace HWY_NAMESPACE;  // NOLINT: the rules are made for each instruction set
  static const auto& rules = *new auto(WithFloatLoops(
      HWY_DYNAMIC_DISPATCH(FloatLoop),
      {
          RealRule<Ftrl>(
              {.name = "Ftrl", .flag = "multiply_linear_by_lr", .cost = 3, .check = CheckRows}),
          RealRule<FtrlV2>(
              {.name = "FtrlV2", .flag = "multiply_linear_by_lr", .cost = 3, .check = CheckRows}),
      }));
  return rules;
}

void RegisterApplyFtrlCpu(KernelRegistry& registry) { AddUpdateKernels(registry, FtrlRules()); }

}  // namespace sextant
#endif

#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/math/reduce_loops.h"

namespace sextant {
namespace {

template <typename A>
struct SquareSum {
  using Acc = A;
  static Acc Init() { return 0; }
  static Acc Combine(Acc a, Acc b) { return a + b; }
};

template <typename T>
class L2LossKernel : public Kernel {
 public:
  explicit L2LossKernel(KernelInit&) {}
  void Compute(KernelContext& ctx) override {
    using Acc = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const Tensor& input = ctx.input(0);
    Acc sum = 0;
    if (input.num_elements() > 0) {
      reduce::Fold<SquareSum<Acc>>(
          ctx, input.data<T>(), 1, input.num_elements(), 1, &sum,
          [](T value) { return static_cast<Acc>(value) * static_cast<Acc>(value); },
          [this](int64_t n) { return partial_.resize(n), partial_.data(); });
    }
    *ctx.AllocateOutput(0, Shape()).template data<T>() = static_cast<T>(sum / 2);
  }

 private:
  std::vector<std::conditional_t<std::is_same_v<T, double>, double, float>> partial_;
};

}  // namespace

void RegisterL2LossCpu(KernelRegistry& registry) {
  ForTypes<float, double, Half, BFloat16>([&]<typename T>() {
    registry.Add(KernelDef("L2Loss").Type<T>("T").template Make<L2LossKernel<T>>());
  });
}

}  // namespace sextant

#include <atomic>
#include <cmath>

#include "sextant/ops/math/elementwise_kernel.h"

namespace sextant {
namespace {

template <typename T>
class CheckNumericsKernel final : public Kernel {
 public:
  explicit CheckNumericsKernel(KernelInit& init) : message_(init.attr<std::string>("message")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    const T* values = x.data<T>();
    std::atomic<bool> all_finite = true;
    ctx.ParallelFor(x.num_elements(), kArithmeticCost, [&](int64_t begin, int64_t end) {
      bool finite = true;
      for (int64_t i = begin; i < end; ++i) finite &= std::isfinite(ToArithmetic(values[i]));
      if (!finite) all_finite = false;
    });
    if (!all_finite) Fail(x);
    ctx.ForwardInput(0, 0);
  }

 private:
  [[noreturn]] void Fail(const Tensor& x) const {
    bool has_nan = false, has_infinity = false;
    for (const T& value : x.flat<T>()) {
      has_nan |= std::isnan(ToArithmetic(value));
      has_infinity |= std::isinf(ToArithmetic(value));
    }
    throw InvalidArgument("{} : Tensor had {} values", message_,
                          !has_nan       ? "Inf"
                          : has_infinity ? "Inf and NaN"
                                         : "NaN");
  }

  const std::string message_;
};

}  // namespace

void RegisterCheckNumericsCpu(KernelRegistry& registry) {
  ForTypes<Half, BFloat16, float, double>([&]<typename T>() {
    for (const char* op : {"CheckNumerics", "CheckNumericsV2"}) {
      registry.Add(KernelDef(op).Type<T>("T").Alias(0, 0).template Make<CheckNumericsKernel<T>>());
    }
  });
}

}  // namespace sextant

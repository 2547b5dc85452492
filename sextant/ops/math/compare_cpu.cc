#include <cmath>
#include <functional>
#include <string>

#include "sextant/graph/shape_context.h"
#include "sextant/ops/math/elementwise_kernel.h"

namespace sextant {
namespace {

// Equal and NotEqual: as other comparisons, unless shapes may fail to fit.
class EqualKernel final : public Kernel {
 public:
  EqualKernel(KernelInit& init, BinaryLoop loop, DType type, bool if_incompatible)
      : compare_(loop, type, DType::kBool, kArithmeticCost, true),
        must_fit_(init.attr<bool>("incompatible_shape_error")),
        if_incompatible_(if_incompatible) {}

  void Compute(KernelContext& ctx) override {
    if (must_fit_ || Fit(ctx.input(0).shape(), ctx.input(1).shape())) return compare_.Compute(ctx);
    *ctx.AllocateOutput(0, Shape()).data<bool>() = if_incompatible_;
  }

 private:
  static bool Fit(const Shape& a, const Shape& b) {
    for (int i = 1; i <= std::min(a.rank(), b.rank()); ++i) {
      const int64_t x = a[a.rank() - i], y = b[b.rank() - i];
      if (x != y && x != 1 && y != 1) return false;
    }
    return true;
  }

  BinaryKernel compare_;
  const bool must_fit_, if_incompatible_;
};

// The loop of a comparison. Steps that are known let the compiler use vectors.
template <typename T, typename F>
BinaryLoop ComparisonLoopOf(F f) {
  if constexpr (std::is_arithmetic_v<T>) {
    return [](const void* a_data, int64_t a_step, const void* b_data, int64_t b_step,
              void* out_data, int64_t count) {
      const T* a = static_cast<const T*>(a_data);
      const T* b = static_cast<const T*>(b_data);
      bool* out = static_cast<bool*>(out_data);
      if (a_step == 1 && b_step == 1) {
        for (int64_t i = 0; i < count; ++i) out[i] = F{}(a[i], b[i]);
      } else if (a_step == 1 && count > 0) {
        const T right = *b;
        for (int64_t i = 0; i < count; ++i) out[i] = F{}(a[i], right);
      } else {
        for (int64_t i = 0; i < count; ++i) out[i] = F{}(a[i * a_step], b[i * b_step]);
      }
    };
  } else {
    return BinaryLoopOf<T, bool>(f);
  }
}

template <typename... Ts, typename F>
void AddEqual(KernelRegistry& registry, const char* op, TypeList<Ts...>, F f,
              bool if_incompatible) {
  const auto add = [&](DType type, BinaryLoop loop) {
    registry.Add(KernelDef(op).Types("T", {type}).Make([=](KernelInit& init) {
      return std::make_unique<EqualKernel>(init, loop, type, if_incompatible);
    }));
  };
  (add(DTypeOf<Ts>, ComparisonLoopOf<Ts>(f)), ...);
}

template <typename... Ts, typename F>
void AddComparison(KernelRegistry& registry, const char* op, TypeList<Ts...>, F f) {
  (AddBinaryKernel(registry, op, DTypeOf<Ts>, DType::kBool, ComparisonLoopOf<Ts>(f),
                   kArithmeticCost),
   ...);
}

template <typename T>
class ApproximateEqualKernel final : public Kernel {
 public:
  explicit ApproximateEqualKernel(KernelInit& init)
      : tolerance_(static_cast<Arithmetic<T>>(init.attr<float>("tolerance"))) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    const Tensor& y = ctx.input(1);
    if (!(x.shape() == y.shape())) {
      throw InvalidArgument("x and y must be of the same shape. x shape: {}. y shape: {}",
                            x.shape().ToString(), y.shape().ToString());
    }
    bool* out = ctx.AllocateOutput(0, x.shape()).template data<bool>();
    const T* a = x.data<T>();
    const T* b = y.data<T>();
    for (int64_t i = 0; i < x.num_elements(); ++i) {
      const Arithmetic<T> p(a[i]), q(b[i]);
      out[i] = (p > q ? p - q : q - p) < tolerance_;
    }
  }

 private:
  const Arithmetic<T> tolerance_;
};

}  // namespace

void RegisterCompareCpu(KernelRegistry& registry) {
  using Others = TypeList<bool, std::string>;
  AddEqual(registry, "Equal", Floats(), std::equal_to<>(), false);
  AddEqual(registry, "Equal", Integers(), std::equal_to<>(), false);
  AddEqual(registry, "Equal", Complexes(), std::equal_to<>(), false);
  AddEqual(registry, "Equal", Others(), std::equal_to<>(), false);
  AddEqual(registry, "NotEqual", Floats(), std::not_equal_to<>(), true);
  AddEqual(registry, "NotEqual", Integers(), std::not_equal_to<>(), true);
  AddEqual(registry, "NotEqual", Complexes(), std::not_equal_to<>(), true);
  AddEqual(registry, "NotEqual", Others(), std::not_equal_to<>(), true);
  AddComparison(registry, "Less", Floats(), std::less<>());
  AddComparison(registry, "Less", Integers(), std::less<>());
  AddComparison(registry, "LessEqual", Floats(), std::less_equal<>());
  AddComparison(registry, "LessEqual", Integers(), std::less_equal<>());
  AddComparison(registry, "Greater", Floats(), std::greater<>());
  AddComparison(registry, "Greater", Integers(), std::greater<>());
  AddComparison(registry, "GreaterEqual", Floats(), std::greater_equal<>());
  AddComparison(registry, "GreaterEqual", Integers(), std::greater_equal<>());
  AddComparison(registry, "LogicalAnd", TypeList<bool>(), std::logical_and<>());
  AddComparison(registry, "LogicalOr", TypeList<bool>(), std::logical_or<>());
  ForTypes<float, double, Half, BFloat16, int8_t, int16_t, int32_t, int64_t, uint8_t>(
      [&]<typename T>() {
        registry.Add(
            KernelDef("ApproximateEqual").Type<T>("T").template Make<ApproximateEqualKernel<T>>());
      });
}

}  // namespace sextant

#include <cmath>
#include <limits>

#include "sextant/ops/math/elementwise_kernel.h"
#include "sextant/ops/math/elementwise_simd.h"

namespace sextant {
namespace {

// LeakyRelu is a function of two numbers of which the second is the attribute alpha.
template <typename T>
class LeakyReluKernel final : public Kernel {
 public:
  explicit LeakyReluKernel(KernelInit& init) : alpha_(init.attr<float>("alpha")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& x = ctx.input(0);
    Tensor& y = ctx.AllocateOutput(0, x.shape());
    const T* in = x.data<T>();
    T* out = y.data<T>();
    const Arithmetic<T> alpha = alpha_;
    ctx.ParallelFor(x.num_elements(), kArithmeticCost, [&](int64_t begin, int64_t end) {
      if constexpr (std::is_same_v<T, float>) {
        FloatBinaryLoop(ElementwiseOp::kLeakyRelu)(in + begin, 1, &alpha_, 0, out + begin,
                                                   end - begin);
      } else {
        for (int64_t i = begin; i < end; ++i) {
          const Arithmetic<T> value(in[i]);
          out[i] = T(value > 0 ? value : alpha * value);
        }
      }
    });
  }

 private:
  const float alpha_;
};

template <typename T>
class LeakyReluGradKernel final : public Kernel {
 public:
  explicit LeakyReluGradKernel(KernelInit& init) : alpha_(init.attr<float>("alpha")) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& gradients = ctx.input(0);
    const Tensor& features = ctx.input(1);
    if (!(gradients.shape() == features.shape())) {
      throw InvalidArgument("inputs must have one shape, got {} and {}",
                            gradients.shape().ToString(), features.shape().ToString());
    }
    T* out = ctx.AllocateOutput(0, features.shape()).template data<T>();
    const T* g = gradients.data<T>();
    const T* x = features.data<T>();
    ctx.ParallelFor(features.num_elements(), kArithmeticCost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const Arithmetic<T> value(g[i]);
        out[i] = T(Arithmetic<T>(x[i]) > 0 ? value : alpha_ * value);
      }
    });
  }

 private:
  const Arithmetic<T> alpha_;
};

void RegisterRelus(KernelRegistry& registry) {
  const double cost = kArithmeticCost;
  const auto relu = [](auto x) { return x < decltype(x)(0) ? decltype(x)(0) : x; };
  const auto relu6 = [](auto x) {
    using T = decltype(x);
    return x < T(0) ? T(0) : x > T(6) ? T(6) : x;
  };
  // Multiplied, not selected: see the float loops.
  const auto relu_grad = [](auto g, auto x) { return g * decltype(g)(x > decltype(x)(0)); };
  const auto relu6_grad = [](auto g, auto x) {
    return g * decltype(g)(x > decltype(x)(0) && x < decltype(x)(6));
  };
  AddUnary(registry, "Relu", OtherFloats(), relu, cost);
  AddUnary(registry, "Relu", Integers(), relu, cost);
  AddUnary(registry, "Relu6", OtherFloats(), relu6, cost);
  AddUnary(registry, "Relu6", Integers(), relu6, cost);
  AddBinary(registry, "ReluGrad", OtherFloats(), relu_grad, cost);
  AddBinary(registry, "ReluGrad", Integers(), relu_grad, cost);
  AddBinary(registry, "Relu6Grad", OtherFloats(), relu6_grad, cost);
  AddBinary(registry, "Relu6Grad", Integers(), relu6_grad, cost);
  ForTypes<Half, BFloat16, float, double>([&]<typename T>() {
    registry.Add(
        KernelDef("LeakyRelu").Type<T>("T").InPlace(0, 0).template Make<LeakyReluKernel<T>>());
    registry.Add(KernelDef("LeakyReluGrad")
                     .Type<T>("T")
                     .InPlace(0, 0)
                     .InPlace(0, 1)
                     .template Make<LeakyReluGradKernel<T>>());
  });
}

void RegisterSmooth(KernelRegistry& registry) {
  const double cost = kFunctionCost;
  AddUnary(
      registry, "Elu", OtherFloats(), [](auto x) { return x < 0 ? std::expm1(x) : x; }, cost);
  AddUnary(
      registry, "Selu", OtherFloats(),
      [](auto x) {
        using T = decltype(x);
        return x < 0 ? T(kSeluScaleAlpha) * std::expm1(x) : T(kSeluScale) * x;
      },
      cost);
  AddUnary(
      registry, "Softplus", OtherFloats(),
      [](auto x) {
        // Beyond this, log(1 + e^x) is x, or e^x, to the last bit.
        const auto threshold = -std::log(std::numeric_limits<decltype(x)>::epsilon()) - 2;
        if (x > threshold) return x;
        return x < -threshold ? std::exp(x) : std::log1p(std::exp(x));
      },
      cost);
  AddUnary(
      registry, "Softsign", OtherFloats(), [](auto x) { return x / (1 + std::abs(x)); }, 1.0);
  AddBinary(
      registry, "EluGrad", OtherFloats(), [](auto g, auto y) { return y < 0 ? (y + 1) * g : g; },
      1.0);
  AddBinary(
      registry, "SeluGrad", OtherFloats(),
      [](auto g, auto y) {
        using T = decltype(g);
        return y < 0 ? g * (y + T(kSeluScaleAlpha)) : g * T(kSeluScale);
      },
      1.0);
  AddBinary(
      registry, "SoftplusGrad", OtherFloats(),
      [](auto g, auto x) { return g / (std::exp(-x) + 1); }, cost);
  AddBinary(
      registry, "SoftsignGrad", OtherFloats(),
      [](auto g, auto x) {
        const auto root = 1 + std::abs(x);
        return g / (root * root);
      },
      1.0);
}

}  // namespace

void RegisterActivationCpu(KernelRegistry& registry) {
  for (const char* op : {"Relu", "Relu6", "Elu", "Selu", "Softplus", "Softsign", "ReluGrad",
                         "Relu6Grad", "EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad"}) {
    AddFloatKernel(registry, op);
  }
  RegisterRelus(registry);
  RegisterSmooth(registry);
}

}  // namespace sextant

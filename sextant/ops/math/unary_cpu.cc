#include <cmath>
#include <cstdlib>

#include "sextant/ops/math/elementwise_kernel.h"
#include "sextant/ops/math/wrapping.h"

namespace sextant {
namespace {

constexpr auto kSign = [](auto x) -> decltype(x) {
  using T = decltype(x);
  if (x > T(0)) return T(1);
  return x < T(0) ? T(-1) : x;  // zero and NaN are their own signs
};

void RegisterArithmetic(KernelRegistry& registry) {
  for (const char* op :
       {"Neg", "Abs", "Sign", "Square", "Sqrt", "Rsqrt", "Reciprocal", "Inv", "Floor", "Ceil",
        "Rint", "Round", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad", "SigmoidGrad"}) {
    AddFloatKernel(registry, op);
  }
  const double cost = kArithmeticCost;
  AddUnary(
      registry, "Neg", OtherFloats(), [](auto x) { return -x; }, cost);
  AddUnary(
      registry, "Neg", Complexes(), [](auto x) { return -x; }, cost);
  AddUnary(
      registry, "Neg", SignedIntegers(), [](auto x) { return Wrapping::Sub(decltype(x)(0), x); },
      cost);
  AddUnary(
      registry, "Abs", OtherFloats(), [](auto x) { return std::abs(x); }, cost);
  AddUnary(
      registry, "Abs", SignedIntegers(),
      [](auto x) { return x < 0 ? Wrapping::Sub(decltype(x)(0), x) : x; }, cost);
  AddUnary(registry, "Sign", OtherFloats(), kSign, cost);
  AddUnary(registry, "Sign", SignedIntegers(), kSign, cost);
  AddUnary(
      registry, "Square", OtherFloats(), [](auto x) { return x * x; }, cost);
  AddUnary(
      registry, "Square", Complexes(), [](auto x) { return x * x; }, cost);
  AddUnary(
      registry, "Square", Integers(), [](auto x) { return Wrapping::Mul(x, x); }, cost);
  AddUnary(
      registry, "Sqrt", OtherFloats(), [](auto x) { return std::sqrt(x); }, cost);
  AddUnary(
      registry, "Rsqrt", OtherFloats(), [](auto x) { return 1 / std::sqrt(x); }, cost);
  for (const char* op : {"Reciprocal", "Inv"}) {
    AddUnary(
        registry, op, OtherFloats(), [](auto x) { return 1 / x; }, cost);
  }
}

void RegisterFunctions(KernelRegistry& registry) {
  for (const char* op : {"Exp", "Expm1", "Log", "Log1p", "Sigmoid"}) AddFloatKernel(registry, op);
  const double cost = kFunctionCost;
  AddUnary(
      registry, "Exp", OtherFloats(), [](auto x) { return std::exp(x); }, cost);
  AddUnary(
      registry, "Expm1", OtherFloats(), [](auto x) { return std::expm1(x); }, cost);
  AddUnary(
      registry, "Log", OtherFloats(), [](auto x) { return std::log(x); }, cost);
  AddUnary(
      registry, "Log1p", OtherFloats(), [](auto x) { return std::log1p(x); }, cost);
  AddUnary(
      registry, "Sigmoid", OtherFloats(), [](auto x) { return 1 / (1 + std::exp(-x)); }, cost);
}

void RegisterRoundingAndTests(KernelRegistry& registry) {
  const double cost = kArithmeticCost;
  AddUnary(
      registry, "Floor", OtherFloats(), [](auto x) { return std::floor(x); }, cost);
  AddUnary(
      registry, "Ceil", OtherFloats(), [](auto x) { return std::ceil(x); }, cost);
  for (const char* op : {"Rint", "Round"}) {
    AddUnary(
        registry, op, OtherFloats(), [](auto x) { return std::nearbyint(x); }, cost);
  }
  AddUnary(
      registry, "Round", SignedIntegers(), [](auto x) { return x; }, cost);
  AddUnaryTo<bool>(registry, "IsNan", Floats(), [](auto x) { return std::isnan(x); });
  AddUnaryTo<bool>(registry, "IsInf", Floats(), [](auto x) { return std::isinf(x); });
  AddUnaryTo<bool>(registry, "IsFinite", Floats(), [](auto x) { return std::isfinite(x); });
  AddUnaryTo<bool>(registry, "LogicalNot", TypeList<bool>(), [](bool x) { return !x; });
}

void RegisterGradients(KernelRegistry& registry) {
  const double cost = kArithmeticCost;
  AddBinary(
      registry, "SigmoidGrad", OtherFloats(), [](auto y, auto dy) { return dy * y * (1 - y); },
      cost);
  // Of these, a gradient of 0 is 0, even at a pole.
  AddBinary(
      registry, "SqrtGrad", OtherFloats(),
      [](auto y, auto dy) {
        using T = decltype(y);
        return dy == T(0) ? T(0) : T(0.5) * dy / y;
      },
      cost);
  AddBinary(
      registry, "RsqrtGrad", OtherFloats(),
      [](auto y, auto dy) {
        using T = decltype(y);
        return dy == T(0) ? T(0) : T(-0.5) * (dy * y) * (y * y);
      },
      cost);
  for (const char* op : {"ReciprocalGrad", "InvGrad"}) {
    AddBinary(
        registry, op, OtherFloats(),
        [](auto y, auto dy) {
          using T = decltype(y);
          return dy == T(0) ? T(0) : -y * dy * y;
        },
        cost);
  }
}

}  // namespace

void RegisterUnaryCpu(KernelRegistry& registry) {
  RegisterArithmetic(registry);
  RegisterFunctions(registry);
  RegisterRoundingAndTests(registry);
  RegisterGradients(registry);
}

}  // namespace sextant

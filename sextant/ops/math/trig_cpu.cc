#include <cmath>

#include "sextant/ops/math/elementwise_kernel.h"

namespace sextant {

void RegisterTrigCpu(KernelRegistry& registry) {
  for (const char* op : {"Sin", "Cos", "Tanh", "TanhGrad"}) AddFloatKernel(registry, op);
  const double cost = kFunctionCost;
  AddUnary(
      registry, "Sin", OtherFloats(), [](auto x) { return std::sin(x); }, cost);
  AddUnary(
      registry, "Cos", OtherFloats(), [](auto x) { return std::cos(x); }, cost);
  AddUnary(
      registry, "Tanh", OtherFloats(), [](auto x) { return std::tanh(x); }, cost);
  AddUnary(
      registry, "Tan", Floats(), [](auto x) { return std::tan(x); }, cost);
  AddUnary(
      registry, "Asin", Floats(), [](auto x) { return std::asin(x); }, cost);
  AddUnary(
      registry, "Acos", Floats(), [](auto x) { return std::acos(x); }, cost);
  AddUnary(
      registry, "Atan", Floats(), [](auto x) { return std::atan(x); }, cost);
  AddUnary(
      registry, "Sinh", Floats(), [](auto x) { return std::sinh(x); }, cost);
  AddUnary(
      registry, "Cosh", Floats(), [](auto x) { return std::cosh(x); }, cost);
  AddUnary(
      registry, "Asinh", Floats(), [](auto x) { return std::asinh(x); }, cost);
  AddUnary(
      registry, "Acosh", Floats(), [](auto x) { return std::acosh(x); }, cost);
  AddUnary(
      registry, "Atanh", Floats(), [](auto x) { return std::atanh(x); }, cost);
  AddBinary(
      registry, "Atan2", Floats(), [](auto y, auto x) { return std::atan2(y, x); }, cost);
  AddBinary(
      registry, "TanhGrad", OtherFloats(), [](auto y, auto dy) { return dy * (1 - y * y); },
      kArithmeticCost);
}

}  // namespace sextant

#include <math.h>  // lgamma_r: std::lgamma writes to a global variable

#include <cmath>

#include "sextant/ops/math/elementwise_kernel.h"
#include "sextant/ops/math/special_functions.h"

namespace sextant {

void RegisterSpecialCpu(KernelRegistry& registry) {
  using FloatAndDouble = TypeList<float, double>;
  const double cost = kFunctionCost;
  AddFloatKernel(registry, "Erf");
  AddUnary(
      registry, "Erf", OtherFloats(), [](auto x) { return std::erf(x); }, cost);
  AddUnary(
      registry, "Erfc", Floats(), [](auto x) { return std::erfc(x); }, cost);
  AddUnary(
      registry, "Erfinv", Floats(), [](auto x) { return InverseErf(x); }, 10 * cost);
  AddUnary(
      registry, "Ndtri", Floats(), [](auto p) { return NormalQuantile(p); }, 10 * cost);
  AddUnary(
      registry, "Lgamma", Floats(),
      [](double x) {
        int sign;
        return ::lgamma_r(x, &sign);
      },
      cost);
  AddUnary(
      registry, "Digamma", Floats(), [](auto x) { return DigammaFunction(x); }, 3 * cost);
  AddBinary(
      registry, "Zeta", FloatAndDouble(), [](auto x, auto q) { return HurwitzZeta(x, q); },
      20 * cost);
  AddBinary(
      registry, "Polygamma", FloatAndDouble(),
      [](auto a, auto x) { return PolygammaFunction(a, x); }, 20 * cost);
}

}  // namespace sextant

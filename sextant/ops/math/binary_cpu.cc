#include <cmath>
#include <string>
#include <type_traits>

#include "sextant/ops/math/elementwise_kernel.h"
#include "sextant/ops/math/integer_division.h"
#include "sextant/ops/math/wrapping.h"

namespace sextant {
namespace {

using FloatAndDouble = TypeList<float, double>;

void RegisterSums(KernelRegistry& registry) {
  const double cost = kArithmeticCost;
  const auto add = [](const auto& x, const auto& y) { return Wrapping::Add(x, y); };
  for (const char* op : {"Add", "AddV2"}) {
    AddFloatKernel(registry, op);
    AddBinary(registry, op, OtherFloats(), add, cost);
    AddBinary(registry, op, Complexes(), add, cost);
    AddBinary(registry, op, Integers(), add, cost);
  }
  AddBinary(registry, "Add", TypeList<std::string>(), add, 100.0);

  const auto sub = [](auto x, auto y) { return Wrapping::Sub(x, y); };
  AddFloatKernel(registry, "Sub");
  AddBinary(registry, "Sub", OtherFloats(), sub, cost);
  AddBinary(registry, "Sub", Complexes(), sub, cost);
  AddBinary(registry, "Sub", Integers(), sub, cost);

  const auto squared_difference = [](auto x, auto y) {
    const auto difference = Wrapping::Sub(x, y);
    return Wrapping::Mul(difference, difference);
  };
  AddFloatKernel(registry, "SquaredDifference");
  AddBinary(registry, "SquaredDifference", OtherFloats(), squared_difference, cost);
  AddBinary(registry, "SquaredDifference", TypeList<int32_t, int64_t>(), squared_difference, cost);
}

void RegisterExtremes(KernelRegistry& registry) {
  const double cost = kArithmeticCost;
  // A NaN on either side is the result.
  const auto maximum = [](auto x, auto y) { return x > y || x != x ? x : y; };
  const auto minimum = [](auto x, auto y) { return x < y || x != x ? x : y; };
  AddFloatKernel(registry, "Maximum");
  AddFloatKernel(registry, "Minimum");
  AddBinary(registry, "Maximum", OtherFloats(), maximum, cost);
  AddBinary(registry, "Minimum", OtherFloats(), minimum, cost);
  AddBinary(registry, "Maximum", Integers(), maximum, cost);
  AddBinary(registry, "Minimum", Integers(), minimum, cost);
  AddBinary(
      registry, "NextAfter", FloatAndDouble(), [](auto x, auto y) { return std::nextafter(x, y); },
      kFunctionCost);
}

// TensorFlow refuses a zero divisor of TruncateDiv and TruncateMod by INTERNAL, other than of the
// other integer divisions.
template <typename T>
T NotZero(T divisor) {
  if (divisor == 0) [[unlikely]]
    throw Internal("Integer division by zero");
  return divisor;
}

void RegisterProducts(KernelRegistry& registry) {
  const double cost = kArithmeticCost;
  const auto mul = [](auto x, auto y) { return Wrapping::Mul(x, y); };
  AddFloatKernel(registry, "Mul");
  AddBinary(registry, "Mul", OtherFloats(), mul, cost);
  AddBinary(registry, "Mul", Complexes(), mul, cost);
  AddBinary(registry, "Mul", Integers(), mul, cost);

  const auto divide = [](auto x, auto y) { return x / y; };
  for (const char* op : {"RealDiv", "Div"}) {
    AddFloatKernel(registry, op);
    AddBinary(registry, op, OtherFloats(), divide, cost);
    AddBinary(registry, op, Complexes(), divide, cost);
  }
  const auto quotient = [](auto x, auto y) { return IntegerDivision::Truncate(x, y); };
  AddBinary(registry, "Div", Integers(), quotient, cost);
  AddBinary(
      registry, "TruncateDiv", Integers(),
      [](auto x, auto y) { return IntegerDivision::Truncate(x, NotZero(y)); }, cost);
  AddBinary(
      registry, "TruncateDiv", Floats(), [](auto x, auto y) { return std::trunc(x / y); }, cost);

  AddFloatKernel(registry, "FloorDiv");
  AddBinary(
      registry, "FloorDiv", OtherFloats(), [](auto x, auto y) { return std::floor(x / y); }, cost);
  AddBinary(
      registry, "FloorDiv", Integers(), [](auto x, auto y) { return IntegerDivision::Floor(x, y); },
      cost);
}

void RegisterRemainders(KernelRegistry& registry) {
  AddBinary(
      registry, "FloorMod", Floats(),
      [](auto x, auto y) {
        const auto rest = std::fmod(x, y);
        return rest != 0 && (y < 0) != (rest < 0) ? rest + y : rest;
      },
      kFunctionCost);
  AddBinary(
      registry, "FloorMod", Integers(),
      [](auto x, auto y) { return IntegerDivision::FloorRest(x, y); }, kArithmeticCost);
  for (const char* op : {"Mod", "TruncateMod"}) {
    AddBinary(
        registry, op, Floats(), [](auto x, auto y) { return std::fmod(x, y); }, kFunctionCost);
  }
  AddBinary(
      registry, "Mod", TypeList<int32_t, int64_t>(),
      [](auto x, auto y) { return IntegerDivision::TruncateRest(x, y); }, kArithmeticCost);
  AddBinary(
      registry, "TruncateMod", TypeList<int32_t, int64_t>(),
      [](auto x, auto y) { return IntegerDivision::TruncateRest(x, NotZero(y)); }, kArithmeticCost);
}

void RegisterPower(KernelRegistry& registry) {
  AddFloatKernel(registry, "Pow");
  AddBinary(
      registry, "Pow", OtherFloats(), [](auto x, auto y) { return std::pow(x, y); }, kFunctionCost);
  AddBinary(
      registry, "Pow", SignedIntegers(),
      [](auto x, auto y) {
        using T = decltype(x);
        if (y < 0) throw InvalidArgument("Integers to negative integer powers are not allowed");
        T result = 1;
        for (T base = x; y > 0; y = static_cast<T>(y >> 1), base = Wrapping::Mul(base, base)) {
          if (y & 1) result = Wrapping::Mul(result, base);
        }
        return result;
      },
      kFunctionCost);
}

void RegisterZeroSafe(KernelRegistry& registry) {
  const double cost = kArithmeticCost;
  for (const char* op : {"DivNoNan", "MulNoNan", "Xdivy", "Xlogy"}) AddFloatKernel(registry, op);
  AddBinary(
      registry, "DivNoNan", OtherFloats(),
      [](auto x, auto y) { return y == 0 ? decltype(x)(0) : x / y; }, cost);
  AddBinary(
      registry, "MulNoNan", OtherFloats(),
      [](auto x, auto y) { return y == 0 ? decltype(x)(0) : x * y; }, cost);
  AddBinary(
      registry, "Xdivy", OtherFloats(),
      [](auto x, auto y) { return x == 0 ? decltype(x)(0) : x / y; }, cost);
  AddBinary(
      registry, "Xlogy", OtherFloats(),
      [](auto x, auto y) { return x == 0 ? decltype(x)(0) : x * std::log(y); }, kFunctionCost);
  AddBinary(
      registry, "Xlog1py", Floats(),
      [](auto x, auto y) { return x == 0 ? decltype(x)(0) : x * std::log1p(y); }, kFunctionCost);
}

}  // namespace

void RegisterBinaryCpu(KernelRegistry& registry) {
  RegisterSums(registry);
  RegisterExtremes(registry);
  RegisterProducts(registry);
  RegisterRemainders(registry);
  RegisterPower(registry);
  RegisterZeroSafe(registry);
}

}  // namespace sextant

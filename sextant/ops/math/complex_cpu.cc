#include <algorithm>
#include <cmath>
#include <complex>

#include "sextant/base/error.h"
#include "sextant/ops/control_flow/tensor_list_value.h"
#include "sextant/ops/math/elementwise_kernel.h"

namespace sextant {
namespace {

// The kernel of an op from complex numbers over T to T.
template <typename T, typename F>
void AddPart(KernelRegistry& registry, const char* op, F f, double cost) {
  const UnaryLoop loop = UnaryLoopOf<std::complex<T>, T>(f);
  registry.Add(KernelDef(op).Type<std::complex<T>>("T").template Type<T>("Tout").Make(
      [loop, cost](KernelInit&) -> std::unique_ptr<Kernel> {
        return std::make_unique<UnaryKernel>(loop, DTypeOf<std::complex<T>>, DTypeOf<T>, cost);
      }));
}

template <typename T>
void AddComplex(KernelRegistry& registry) {
  const BinaryLoop join =
      BinaryLoopOf<T, std::complex<T>>([](T real, T imag) { return std::complex<T>(real, imag); });
  registry.Add(KernelDef("Complex").Type<T>("T").template Type<std::complex<T>>("Tout").Make(
      [join](KernelInit&) -> std::unique_ptr<Kernel> {
        return std::make_unique<BinaryKernel>(join, DTypeOf<T>, DTypeOf<std::complex<T>>,
                                              kArithmeticCost, true);
      }));
  AddPart<T>(
      registry, "Real", [](std::complex<T> x) { return x.real(); }, kArithmeticCost);
  AddPart<T>(
      registry, "Imag", [](std::complex<T> x) { return x.imag(); }, kArithmeticCost);
  AddPart<T>(
      registry, "ComplexAbs", [](std::complex<T> x) { return std::abs(x); }, kFunctionCost);
  AddPart<T>(
      registry, "Angle", [](std::complex<T> x) { return std::arg(x); }, kFunctionCost);
}

// Of lists, element by element; what is real stays as it is.
Variant ConjugateList(const Variant& value);

Tensor ConjugateTensor(const Tensor& x) {
  Tensor y(x.dtype(), x.shape());
  const auto apply = [&]<typename T>(auto f) {
    std::ranges::transform(x.flat<T>(), y.data<T>(), f);
    return y;
  };
  using Wide = std::complex<double>;
  using Narrow = std::complex<float>;
  switch (x.dtype()) {
    case DType::kComplex64:
      return apply.template operator()<Narrow>([](Narrow z) { return std::conj(z); });
    case DType::kComplex128:
      return apply.template operator()<Wide>([](Wide z) { return std::conj(z); });
    case DType::kVariant:
      return apply.template operator()<Variant>(ConjugateList);
    default:
      return x;
  }
}

Variant ConjugateList(const Variant& value) {
  const TensorList* list = value.Get<TensorList>();
  if (!list) throw InvalidArgument("Conj of a variant needs a list of tensors");
  TensorList conjugates = *list;
  for (Tensor& element : conjugates.elements) {
    if (element.valid()) element = ConjugateTensor(element);
  }
  return Variant::Of(std::move(conjugates));
}

void ConjugateVariants(KernelContext& ctx) { ctx.SetOutput(0, ConjugateTensor(ctx.input(0))); }

}  // namespace

void RegisterComplexCpu(KernelRegistry& registry) {
  AddComplex<float>(registry);
  AddComplex<double>(registry);
  registry.Add(KernelDef("Conj").Type<Variant>("T").OwnOutputs().Function(ConjugateVariants));
  AddUnary(
      registry, "Conj", Complexes(), [](auto x) { return std::conj(x); }, kArithmeticCost);
}

}  // namespace sextant

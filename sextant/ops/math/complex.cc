#include "sextant/ops/math/complex.h"

#include <numbers>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/broadcast_gradient.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/select.h"

namespace sextant {
namespace {

DType RealType(DType dtype) { return dtype == DType::kComplex128 ? DType::kDouble : DType::kFloat; }

Output BuildPart(const char* op, Output x) {
  return OpBuilder(op).Input(x).Attr("Tout", RealType(x.dtype())).Build();
}

OpDef PartDef(const char* name, const char* input, const char* output, const char* doc) {
  return OpDef(name)
      .Inputs(std::string(input) + ":T")
      .Outputs(std::string(output) + ":Tout")
      .Attrs("T:type=complex64 in [complex64,complex128]; Tout:type=float in [float,double]")
      .Doc(doc)
      .Shape(shapes::Unchanged);
}

}  // namespace

Output Complex(Output real, Output imag) {
  const DType type = real.dtype() == DType::kDouble ? DType::kComplex128 : DType::kComplex64;
  return OpBuilder("Complex").Input(real).Input(imag).Attr("Tout", type).Build();
}
Output Real(Output x) { return IsComplex(x.dtype()) ? BuildPart("Real", x) : x; }
Output Imag(Output x) { return IsComplex(x.dtype()) ? BuildPart("Imag", x) : ZerosLike(x); }
Output Conj(Output x) { return IsComplex(x.dtype()) ? OpBuilder("Conj").Input(x).Build() : x; }
Output Angle(Output x) {
  if (IsComplex(x.dtype())) return BuildPart("Angle", x);
  return SelectV2(Less(x, ScalarLike(0, x)), ZerosLike(x) + std::numbers::pi, ZerosLike(x));
}
Output ComplexAbs(Output x) { return BuildPart("ComplexAbs", x); }

// The gradient of a real loss L by z = x + iy is dL/dx + i dL/dy.
void RegisterComplex(OpRegistry& registry) {
  registry.Add(
      OpDef("Complex")
          .Inputs("real:T, imag:T")
          .Outputs("out:Tout")
          .Attrs("T:type=float in [float,double]; Tout:type=complex64 in [complex64,complex128]")
          .Doc("Complex numbers real + i imag, with broadcasting.")
          .Shape(shapes::BroadcastBinary)
          .Gradient([](GradientContext& c) {
            SetBroadcastGradients(c, Real(c.grad()), Imag(c.grad()));
          }));
  registry.Add(
      PartDef("Real", "input", "output", "The real part of complex numbers.")
          .Gradient([](GradientContext& c) { c.set(0, Complex(c.grad(), ZerosLike(c.grad()))); }));
  registry.Add(
      PartDef("Imag", "input", "output", "The imaginary part of complex numbers.")
          .Gradient([](GradientContext& c) { c.set(0, Complex(ZerosLike(c.grad()), c.grad())); }));
  registry.Add(PartDef("Angle", "input", "output", "atan2(imag, real) of complex numbers.")
                   .Gradient([](GradientContext& c) {
                     const Output x = c.input(0), swapped = Complex(Imag(x), Real(x));
                     c.set(0, RealDiv(-Complex(c.grad(), ZerosLike(c.grad())), swapped));
                   }));
  registry.Add(PartDef("ComplexAbs", "x", "y", "The absolute value of complex numbers.")
                   .Gradient([](GradientContext& c) {
                     const Output x = c.input(0), size = c.output(0);
                     c.set(0, Complex(DivNoNan(c.grad() * Real(x), size),
                                      DivNoNan(c.grad() * Imag(x), size)));
                   }));
  registry.Add(OpDef("Conj")
                   .Inputs("input:T")
                   .Outputs("output:T")
                   .Attrs("T:type=complex64 in [complex64,complex128,variant]")
                   .Doc("The complex conjugate.")
                   .Shape(shapes::Unchanged)
                   .Gradient([](GradientContext& c) { c.set(0, Conj(c.grad())); }));
}

}  // namespace sextant

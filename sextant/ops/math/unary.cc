#include "sextant/ops/math/unary.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/complex.h"
#include "sextant/ops/math/elementwise_build.h"

namespace sextant {
namespace {

constexpr char kRealFloats[] = "T:type in [bfloat16,half,float,double]";
constexpr char kFloatOrComplex[] = "T:type in [bfloat16,half,float,double,complex64,complex128]";
constexpr char kSigned[] = "T:type in [bfloat16,half,float,double,int8,int16,int32,int64]";
constexpr char kSignedOrComplex[] =
    "T:type in [bfloat16,half,float,double,int8,int16,int32,int64,complex64,complex128]";

OpDef Unary(const char* name, const char* attrs, const char* doc) {
  return OpDef(name).Inputs("x:T").Outputs("y:T").Attrs(attrs).Doc(doc).Shape(shapes::Unchanged);
}
OpDef UnaryGrad(const char* name, const char* doc) {
  return OpDef(name)
      .Inputs("y:T, dy:T")
      .Outputs("z:T")
      .Attrs(kFloatOrComplex)
      .Doc(doc)
      .Shape(shapes::MergeAll);
}
OpDef Predicate(const char* name, const char* doc) {
  return OpDef(name)
      .Inputs("x:T")
      .Outputs("y:bool")
      .Attrs(kRealFloats)
      .Doc(doc)
      .Shape(shapes::Unchanged)
      .NotDifferentiable("the result is boolean");
}

void RegisterPowers(OpRegistry& registry) {
  registry.Add(
      Unary("Neg", kSignedOrComplex, "The negative of x.").Gradient([](GradientContext& c) {
        c.set(0, -c.grad());
      }));
  registry.Add(Unary("Abs", kSigned, "The absolute value of x.").Gradient([](GradientContext& c) {
    c.set(0, c.grad() * Sign(c.input(0)));
  }));
  registry.Add(Unary("Sign", kSignedOrComplex, "-1, 0 or 1 by the sign of x.")
                   .Gradient([](GradientContext& c) { c.set(0, ZerosLike(c.input(0))); }));
  registry.Add(
      Unary("Square",
            "T:type in [bfloat16,half,float,double,int8,int16,int32,int64,uint8,uint16,"
            "uint32,uint64,complex64,complex128]",
            "x * x.")
          .Gradient([](GradientContext& c) { c.set(0, c.grad() * Conj(c.input(0) * 2.0)); }));
  registry.Add(
      Unary("Sqrt", kFloatOrComplex, "The square root of x.").Gradient([](GradientContext& c) {
        c.set(0, BuildBinary("SqrtGrad", c.output(0), c.grad()));
      }));
  registry.Add(Unary("Rsqrt", kFloatOrComplex, "One over the square root of x.")
                   .Gradient([](GradientContext& c) {
                     c.set(0, BuildBinary("RsqrtGrad", c.output(0), c.grad()));
                   }));
  for (const char* name : {"Reciprocal", "Inv"}) {
    registry.Add(Unary(name, kSignedOrComplex, "One over x.").Gradient([](GradientContext& c) {
      c.set(0, BuildBinary("ReciprocalGrad", c.output(0), c.grad()));
    }));
  }
}

void RegisterExponentials(OpRegistry& registry) {
  registry.Add(Unary("Exp", kFloatOrComplex, "e to the power x.").Gradient([](GradientContext& c) {
    c.set(0, c.grad() * c.output(0));
  }));
  registry.Add(Unary("Expm1", kFloatOrComplex, "e to the power x, minus 1; accurate near 0.")
                   .Gradient([](GradientContext& c) { c.set(0, c.grad() * Exp(c.input(0))); }));
  registry.Add(
      Unary("Log", kFloatOrComplex, "The natural logarithm of x.").Gradient([](GradientContext& c) {
        c.set(0, c.grad() * Reciprocal(c.input(0)));
      }));
  registry.Add(
      Unary("Log1p", kFloatOrComplex, "The natural logarithm of 1 + x; accurate near 0.")
          .Gradient([](GradientContext& c) { c.set(0, c.grad() * Reciprocal(1.0 + c.input(0))); }));
  registry.Add(Unary("Sigmoid", kFloatOrComplex, "The logistic function 1 / (1 + exp(-x)).")
                   .Gradient([](GradientContext& c) {
                     c.set(0, BuildBinary("SigmoidGrad", c.output(0), c.grad()));
                   }));
}

void RegisterRounding(OpRegistry& registry) {
  const char* const flat = "the slope is zero wherever there is one";
  registry.Add(
      Unary("Floor", kRealFloats, "The largest integer not above x.").NotDifferentiable(flat));
  registry.Add(
      Unary("Ceil", kRealFloats, "The smallest integer not below x.").NotDifferentiable(flat));
  registry.Add(Unary("Rint", kRealFloats, "The integer nearest to x; halves go to the even one.")
                   .NotDifferentiable(flat));
  registry.Add(Unary("Round", kSignedOrComplex,
                     "The integer nearest to x; halves go to the even one. Integers stay.")
                   .NotDifferentiable(flat));
  registry.Add(Predicate("IsNan", "Whether x is not a number."));
  registry.Add(Predicate("IsInf", "Whether x is plus or minus infinity."));
  registry.Add(Predicate("IsFinite", "Whether x is neither infinite nor NaN."));
  registry.Add(OpDef("LogicalNot")
                   .Inputs("x:bool")
                   .Outputs("y:bool")
                   .Doc("True where x is false.")
                   .Shape(shapes::Unchanged)
                   .NotDifferentiable("the result is boolean"));
}

// Gradients of the gradient ops: a is the forward result y, b the gradient dy.
void RegisterGradientOps(OpRegistry& registry) {
  registry.Add(UnaryGrad("SigmoidGrad", "Gradient of Sigmoid from its result: dy * y * (1 - y).")
                   .Gradient([](GradientContext& c) {
                     const Output gb = c.grad() * c.input(1);
                     c.set(0, gb - 2.0 * gb * c.input(0));
                     c.set(1, BuildBinary("SigmoidGrad", c.input(0), c.grad()));
                   }));
  registry.Add(UnaryGrad("SqrtGrad", "Gradient of Sqrt from its result: dy / 2 / y.")
                   .Gradient([](GradientContext& c) {
                     const Output ga = c.grad() / c.input(0);
                     c.set(0, -ga * c.output(0));
                     c.set(1, 0.5 * ga);
                   }));
  registry.Add(UnaryGrad("RsqrtGrad", "Gradient of Rsqrt from its result: -dy / 2 * y^3.")
                   .Gradient([](GradientContext& c) {
                     c.set(0, -1.5 * c.grad() * c.input(1) * Square(c.input(0)));
                     c.set(1, BuildBinary("RsqrtGrad", c.input(0), c.grad()));
                   }));
  for (const char* name : {"ReciprocalGrad", "InvGrad"}) {
    registry.Add(UnaryGrad(name, "Gradient of 1 / x from its result: -dy * y^2.")
                     .Gradient([](GradientContext& c) {
                       c.set(0, c.grad() * -2.0 * c.input(1) * c.input(0));
                       c.set(1, BuildBinary("ReciprocalGrad", c.input(0), c.grad()));
                     }));
  }
}

}  // namespace

Output Neg(Output x) { return BuildUnary("Neg", x); }
Output Abs(Output x) { return IsComplex(x.dtype()) ? ComplexAbs(x) : BuildUnary("Abs", x); }
Output Sign(Output x) { return BuildUnary("Sign", x); }
Output Square(Output x) { return BuildUnary("Square", x); }
Output Sqrt(Output x) { return BuildUnary("Sqrt", x); }
Output Rsqrt(Output x) { return BuildUnary("Rsqrt", x); }
Output Reciprocal(Output x) { return BuildUnary("Reciprocal", x); }
Output Exp(Output x) { return BuildUnary("Exp", x); }
Output Expm1(Output x) { return BuildUnary("Expm1", x); }
Output Log(Output x) { return BuildUnary("Log", x); }
Output Log1p(Output x) { return BuildUnary("Log1p", x); }
Output Sigmoid(Output x) { return BuildUnary("Sigmoid", x); }
Output Floor(Output x) { return BuildUnary("Floor", x); }
Output Ceil(Output x) { return BuildUnary("Ceil", x); }
Output Rint(Output x) { return BuildUnary("Rint", x); }
Output Round(Output x) { return BuildUnary("Round", x); }
Output IsNan(Output x) { return BuildUnary("IsNan", x); }
Output IsInf(Output x) { return BuildUnary("IsInf", x); }
Output IsFinite(Output x) { return BuildUnary("IsFinite", x); }
Output LogicalNot(Output x) { return BuildUnary("LogicalNot", x); }

void RegisterUnary(OpRegistry& registry) {
  RegisterPowers(registry);
  RegisterExponentials(registry);
  RegisterRounding(registry);
  RegisterGradientOps(registry);
}

}  // namespace sextant

#include "sextant/ops/math/special.h"

#include <cmath>
#include <numbers>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/broadcast_gradient.h"
#include "sextant/ops/math/elementwise_build.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

OpDef SpecialOp(const char* name, const char* doc) {
  return OpDef(name)
      .Inputs("x:T")
      .Outputs("y:T")
      .Attrs("T:type in [bfloat16,half,float,double]")
      .Doc(doc)
      .Shape(shapes::Unchanged);
}

void RegisterNormal(OpRegistry& registry) {
  constexpr double kTwoOverRootPi = 2 * std::numbers::inv_sqrtpi;
  registry.Add(SpecialOp("Erf", "The error function of x.").Gradient([](GradientContext& c) {
    c.set(0, c.grad() * kTwoOverRootPi * Exp(-Square(c.input(0))));
  }));
  registry.Add(SpecialOp("Erfc", "One minus the error function of x; accurate for large x.")
                   .Gradient([](GradientContext& c) {
                     c.set(0, c.grad() * -kTwoOverRootPi * Exp(-Square(c.input(0))));
                   }));
  registry.Add(
      SpecialOp("Erfinv", "The inverse of the error function.").Gradient([](GradientContext& c) {
        c.set(0, c.grad() * (1 / kTwoOverRootPi) * Exp(Square(c.output(0))));
      }));
  registry.Add(SpecialOp("Ndtri", "The quantile function of the standard normal distribution.")
                   .Gradient([](GradientContext& c) {
                     const double scale = std::sqrt(2 * std::numbers::pi);
                     c.set(0, c.grad() * scale * Exp(Square(c.output(0)) / 2.0));
                   }));
}

void RegisterGamma(OpRegistry& registry) {
  registry.Add(SpecialOp("Lgamma", "The logarithm of the absolute value of Gamma(x).")
                   .Gradient([](GradientContext& c) { c.set(0, c.grad() * Digamma(c.input(0))); }));
  registry.Add(SpecialOp("Digamma", "The derivative of the logarithm of Gamma.")
                   .Gradient([](GradientContext& c) {
                     const Output one = ScalarLike(1.0, c.input(0));
                     c.set(0, c.grad() * Polygamma(one, c.input(0)));
                   }));
  registry.Add(OpDef("Zeta")
                   .Inputs("x:T, q:T")
                   .Outputs("z:T")
                   .Attrs("T:type in [float,double]")
                   .Doc("Hurwitz's zeta function: the sum over k >= 0 of (q + k)^-x.")
                   .Shape(shapes::BroadcastBinary)
                   .Gradient([](GradientContext& c) {
                     const Output x = c.input(0), q = c.input(1);
                     c.set(1, SumToShapeOf(q, x, c.grad() * (-x * Zeta(x + 1.0, q))));
                   }));
  registry.Add(
      OpDef("Polygamma")
          .Inputs("a:T, x:T")
          .Outputs("z:T")
          .Attrs("T:type in [float,double]")
          .Doc("The derivative of Digamma of order a at x; NaN unless a is a whole number.")
          .Shape(shapes::BroadcastBinary)
          .Gradient([](GradientContext& c) {
            const Output a = c.input(0), x = c.input(1);
            c.set(1, SumToShapeOf(x, a, c.grad() * Polygamma(a + 1.0, x)));
          }));
}

}  // namespace

Output Erf(Output x) { return BuildUnary("Erf", x); }
Output Erfc(Output x) { return BuildUnary("Erfc", x); }
Output Erfinv(Output x) { return BuildUnary("Erfinv", x); }
Output Ndtri(Output p) { return BuildUnary("Ndtri", p); }
Output Lgamma(Output x) { return BuildUnary("Lgamma", x); }
Output Digamma(Output x) { return BuildUnary("Digamma", x); }
Output Zeta(Output x, Output q) { return OpBuilder("Zeta").Input(x).Input(q).Build(); }
Output Polygamma(Output a, Output x) { return OpBuilder("Polygamma").Input(a).Input(x).Build(); }

void RegisterSpecial(OpRegistry& registry) {
  RegisterNormal(registry);
  RegisterGamma(registry);
}

}  // namespace sextant

#include "sextant/ops/math/trig.h"

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

constexpr char kTrigTypes[] = "T:type in [bfloat16,half,float,double,complex64,complex128]";

Output TanhGrad(Output y, Output dy) { return OpBuilder("TanhGrad").Input(y).Input(dy).Build(); }

OpDef TrigOp(const char* name, const char* doc) {
  return OpDef(name)
      .Inputs("x:T")
      .Outputs("y:T")
      .Attrs(kTrigTypes)
      .Doc(doc)
      .Shape(shapes::Unchanged);
}

void RegisterCircular(OpRegistry& registry) {
  registry.Add(TrigOp("Sin", "The sine of x.").Gradient([](GradientContext& c) {
    c.set(0, c.grad() * Cos(c.input(0)));
  }));
  registry.Add(TrigOp("Cos", "The cosine of x.").Gradient([](GradientContext& c) {
    c.set(0, -c.grad() * Sin(c.input(0)));
  }));
  registry.Add(TrigOp("Tan", "The tangent of x.").Gradient([](GradientContext& c) {
    c.set(0, Square(Reciprocal(Cos(c.input(0)))) * c.grad());
  }));
  registry.Add(TrigOp("Asin", "The angle in [-pi/2, pi/2] whose sine is x.")
                   .Gradient([](GradientContext& c) {
                     c.set(0, c.grad() * Reciprocal(Sqrt(1.0 - Square(c.input(0)))));
                   }));
  registry.Add(
      TrigOp("Acos", "The angle in [0, pi] whose cosine is x.").Gradient([](GradientContext& c) {
        c.set(0, -c.grad() * Reciprocal(Sqrt(1.0 - Square(c.input(0)))));
      }));
  registry.Add(TrigOp("Atan", "The angle in (-pi/2, pi/2) whose tangent is x.")
                   .Gradient([](GradientContext& c) {
                     c.set(0, c.grad() * Reciprocal(1.0 + Square(c.input(0))));
                   }));
  registry.Add(OpDef("Atan2")
                   .Inputs("y:T, x:T")
                   .Outputs("z:T")
                   .Attrs("T:type in [bfloat16,half,float,double]")
                   .Doc("The angle of the point (x, y), in [-pi, pi].")
                   .Shape(shapes::BroadcastBinary)
                   .Gradient([](GradientContext& c) {
                     const Output y = c.input(0), x = c.input(1);
                     const Output scaled = c.grad() / (Square(x) + Square(y));
                     SetBroadcastGradients(c, x * scaled, -y * scaled);
                   }));
}

void RegisterHyperbolic(OpRegistry& registry) {
  registry.Add(TrigOp("Sinh", "The hyperbolic sine of x.").Gradient([](GradientContext& c) {
    c.set(0, c.grad() * Cosh(c.input(0)));
  }));
  registry.Add(TrigOp("Cosh", "The hyperbolic cosine of x.").Gradient([](GradientContext& c) {
    c.set(0, c.grad() * Sinh(c.input(0)));
  }));
  registry.Add(TrigOp("Tanh", "The hyperbolic tangent of x.").Gradient([](GradientContext& c) {
    c.set(0, TanhGrad(c.output(0), c.grad()));
  }));
  registry.Add(
      TrigOp("Asinh", "The number whose hyperbolic sine is x.").Gradient([](GradientContext& c) {
        c.set(0, c.grad() / Cosh(c.output(0)));
      }));
  registry.Add(TrigOp("Acosh", "The number, not negative, whose hyperbolic cosine is x.")
                   .Gradient([](GradientContext& c) { c.set(0, c.grad() / Sinh(c.output(0))); }));
  registry.Add(
      TrigOp("Atanh", "The number whose hyperbolic tangent is x.").Gradient([](GradientContext& c) {
        c.set(0, c.grad() * Reciprocal(1.0 - Square(c.input(0))));
      }));
  registry.Add(OpDef("TanhGrad")
                   .Inputs("y:T, dy:T")
                   .Outputs("z:T")
                   .Attrs(kTrigTypes)
                   .Doc("Gradient of Tanh from its result: dy * (1 - y^2).")
                   .Shape(shapes::MergeAll)
                   .Gradient([](GradientContext& c) {
                     c.set(0, c.grad() * -2.0 * c.input(1) * c.input(0));
                     c.set(1, TanhGrad(c.input(0), c.grad()));
                   }));
}

}  // namespace

Output Sin(Output x) { return BuildUnary("Sin", x); }
Output Cos(Output x) { return BuildUnary("Cos", x); }
Output Tan(Output x) { return BuildUnary("Tan", x); }
Output Asin(Output x) { return BuildUnary("Asin", x); }
Output Acos(Output x) { return BuildUnary("Acos", x); }
Output Atan(Output x) { return BuildUnary("Atan", x); }
Output Atan2(Output y, Output x) { return OpBuilder("Atan2").Input(y).Input(x).Build(); }
Output Sinh(Output x) { return BuildUnary("Sinh", x); }
Output Cosh(Output x) { return BuildUnary("Cosh", x); }
Output Tanh(Output x) { return BuildUnary("Tanh", x); }
Output Asinh(Output x) { return BuildUnary("Asinh", x); }
Output Acosh(Output x) { return BuildUnary("Acosh", x); }
Output Atanh(Output x) { return BuildUnary("Atanh", x); }

void RegisterTrig(OpRegistry& registry) {
  RegisterCircular(registry);
  RegisterHyperbolic(registry);
}

}  // namespace sextant

#include "sextant/ops/math/activation.h"

#include <string>

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/elementwise_build.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

const std::string kRealNumbers =
    "float,double,int32,uint8,int16,int8,int64,bfloat16,uint16,half,uint32,uint64";
constexpr char kFloats[] = "T:type in [half,bfloat16,float,double]";
constexpr char kAlpha[] =
    "alpha:float=0.20000000298023224; T:type=float in [half,bfloat16,float,double]";

Output LeakyReluGrad(Output gradients, Output features, float alpha) {
  return OpBuilder("LeakyReluGrad").Input(gradients).Input(features).Attr("alpha", alpha).Build();
}

OpDef Activation(const char* name, const std::string& attrs, const char* doc) {
  return OpDef(name)
      .Inputs("features:T")
      .Outputs("activations:T")
      .Attrs(attrs)
      .Doc(doc)
      .Shape(shapes::Unchanged);
}
// "second" is what the gradient is computed from: the op's features or its outputs.
OpDef ActivationGrad(const char* name, const char* second, const std::string& attrs,
                     const char* doc) {
  return OpDef(name)
      .Inputs(std::string("gradients:T, ") + second + ":T")
      .Outputs("backprops:T")
      .Attrs(attrs)
      .Doc(doc)
      .Shape(shapes::MergeAll);
}

// The gradient of an activation is another op, of its input or of its output.
GradientFunction FromFeatures(const char* op) {
  return [op](GradientContext& c) { c.set(0, BuildBinary(op, c.grad(), c.input(0))); };
}
GradientFunction FromOutputs(const char* op) {
  return [op](GradientContext& c) { c.set(0, BuildBinary(op, c.grad(), c.output(0))); };
}
// Gradients that are linear in "gradients" and piecewise constant in "features".
GradientFunction LinearInGradients(const char* op) {
  return [op](GradientContext& c) {
    c.set(0, BuildBinary(op, c.grad(), c.input(1)));
    c.set(1, ZerosLike(c.input(1)));
  };
}
GradientFunction ExponentialGrad(const char* op) {
  return [op](GradientContext& c) {
    const Output y = c.input(1), zero = ZerosLike(y);
    c.set(0, BuildBinary(op, c.grad(), y));
    c.set(1, SelectV2(Less(y, zero), c.grad() * c.input(0), zero));
  };
}

void RegisterForward(OpRegistry& registry) {
  registry.Add(Activation("Relu", "T:type in [" + kRealNumbers + ",qint8]", "max(x, 0).")
                   .Gradient(FromOutputs("ReluGrad")));
  registry.Add(Activation("Relu6", "T:type in [" + kRealNumbers + "]", "min(max(x, 0), 6).")
                   .Gradient(FromOutputs("Relu6Grad")));
  registry.Add(Activation("Elu", kFloats, "x where it is not negative, else exp(x) - 1.")
                   .Gradient(FromOutputs("EluGrad")));
  registry.Add(
      Activation("Selu", kFloats, "Elu scaled such that layers keep mean 0 and variance 1.")
          .Gradient(FromOutputs("SeluGrad")));
  registry.Add(Activation("LeakyRelu", kAlpha, "x where it is positive, else alpha * x.")
                   .Gradient([](GradientContext& c) {
                     c.set(0, LeakyReluGrad(c.grad(), c.input(0), c.attr<float>("alpha")));
                   }));
  registry.Add(
      Activation("Softplus", kFloats, "log(1 + exp(x)).").Gradient(FromFeatures("SoftplusGrad")));
  registry.Add(
      Activation("Softsign", kFloats, "x / (1 + |x|).").Gradient(FromFeatures("SoftsignGrad")));
}

void RegisterBackward(OpRegistry& registry) {
  registry.Add(ActivationGrad("ReluGrad", "features", "T:type in [" + kRealNumbers + "]",
                              "The gradients where the features (or outputs) are positive, else 0.")
                   .Gradient(LinearInGradients("ReluGrad")));
  registry.Add(ActivationGrad("Relu6Grad", "features", "T:type in [" + kRealNumbers + "]",
                              "The gradients where the features lie between 0 and 6, else 0.")
                   .Gradient(LinearInGradients("Relu6Grad")));
  registry.Add(ActivationGrad("EluGrad", "outputs", kFloats, "Gradient of Elu from its outputs.")
                   .Gradient(ExponentialGrad("EluGrad")));
  registry.Add(ActivationGrad("SeluGrad", "outputs", kFloats, "Gradient of Selu from its outputs.")
                   .Gradient(ExponentialGrad("SeluGrad")));
  registry.Add(
      ActivationGrad("LeakyReluGrad", "features", kAlpha,
                     "The gradients where the features are positive, else alpha times them.")
          .Gradient([](GradientContext& c) {
            c.set(0, LeakyReluGrad(c.grad(), c.input(1), c.attr<float>("alpha")));
            c.set(1, ZerosLike(c.input(1)));
          }));
  registry.Add(ActivationGrad("SoftplusGrad", "features", kFloats,
                              "Gradient of Softplus: gradients / (1 + exp(-x)).")
                   .Gradient([](GradientContext& c) {
                     const Output x = c.input(1);
                     c.set(0, BuildBinary("SoftplusGrad", c.grad(), x));
                     c.set(1, c.grad() * c.input(0) / (Exp(-x) + 2.0 + Exp(x)));
                   }));
  registry.Add(ActivationGrad("SoftsignGrad", "features", kFloats,
                              "Gradient of Softsign: gradients / (1 + |x|)^2.")
                   .Gradient([](GradientContext& c) {
                     const Output x = c.input(1), scaled = BuildBinary("SoftsignGrad", c.grad(), x);
                     c.set(0, scaled);
                     c.set(1, scaled * c.input(0) * -2.0 * Sign(x) / (Abs(x) + 1.0));
                   }));
}

}  // namespace

Output Relu(Output features) { return BuildUnary("Relu", features); }
Output Relu6(Output features) { return BuildUnary("Relu6", features); }
Output Elu(Output features) { return BuildUnary("Elu", features); }
Output Selu(Output features) { return BuildUnary("Selu", features); }
Output Softplus(Output features) { return BuildUnary("Softplus", features); }
Output Softsign(Output features) { return BuildUnary("Softsign", features); }
Output LeakyRelu(Output features, const LeakyReluOptions& options) {
  return OpBuilder("LeakyRelu").Input(features).Attr("alpha", options.alpha).Build();
}

void RegisterActivation(OpRegistry& registry) {
  RegisterForward(registry);
  RegisterBackward(registry);
}

}  // namespace sextant

#include "sextant/ops/nn/lrn.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"

namespace sextant {
namespace {

constexpr char kLrnAttrs[] =
    "depth_radius:int=5; bias:float=1.0; alpha:float=1.0; beta:float=0.5; "
    "T:type=float in [half,bfloat16,float]";

void LrnShape(ShapeContext& c) {
  PartialShape shape = c.InputOfRank(0, 4);
  for (int i = 1; i < c.num_inputs(); ++i) shape = shape.MergeWith(c.InputOfRank(i, 4));
  c.set_output(0, shape);
}

void LrnGradient(GradientContext& c) {
  OpBuilder builder("LRNGrad");
  builder.Input(c.grad()).Input(c.input(0)).Input(c.output(0));
  for (const char* attr : {"depth_radius", "bias", "alpha", "beta"}) {
    builder.Attr(attr, c.attr<Attr>(attr));
  }
  c.set(0, builder.Build());
}

}  // namespace

Output LRN(Output input, const LrnOptions& options) {
  return OpBuilder("LRN")
      .Input(input)
      .Attr("depth_radius", options.depth_radius)
      .Attr("bias", options.bias)
      .Attr("alpha", options.alpha)
      .Attr("beta", options.beta)
      .Build();
}

void RegisterLrn(OpRegistry& registry) {
  registry.Add(OpDef("LRN")
                   .Inputs("input:T")
                   .Outputs("output:T")
                   .Attrs(kLrnAttrs)
                   .Doc("Divides each element by a power of the squares of its neighbours in the "
                        "channels.")
                   .Shape(LrnShape)
                   .Gradient(LrnGradient));
  registry.Add(OpDef("LRNGrad")
                   .Inputs("input_grads:T, input_image:T, output_image:T")
                   .Outputs("output:T")
                   .Attrs(kLrnAttrs)
                   .Doc("The gradient of LRN.")
                   .Shape(LrnShape)
                   .NotDifferentiable("TensorFlow defines no second derivative either"));
}

}  // namespace sextant

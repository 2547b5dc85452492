#include "sextant/ops/nn/softmax.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/unary.h"

namespace sextant {
namespace {

constexpr char kSoftmaxTypes[] = "T:type in [half,bfloat16,float,double]";

void SoftmaxShape(ShapeContext& c) { c.set_output(0, c.InputOfRankAtLeast(0, 1)); }

Output SumLast(Output x) { return Sum(x, {-1}, {.keep_dims = true}); }

}  // namespace

Output Softmax(Output logits) { return OpBuilder("Softmax").Input(logits).Build(); }
Output LogSoftmax(Output logits) { return OpBuilder("LogSoftmax").Input(logits).Build(); }

void RegisterSoftmax(OpRegistry& registry) {
  registry.Add(OpDef("Softmax")
                   .Inputs("logits:T")
                   .Outputs("softmax:T")
                   .Attrs(kSoftmaxTypes)
                   .Doc("exp(x) / sum(exp(x)) along the last dimension.")
                   .Shape(SoftmaxShape)
                   .Gradient([](GradientContext& c) {
                     const Output y = c.output(0), g = c.grad();
                     c.set(0, (g - SumLast(g * y)) * y);
                   }));
  registry.Add(OpDef("LogSoftmax")
                   .Inputs("logits:T")
                   .Outputs("logsoftmax:T")
                   .Attrs(kSoftmaxTypes)
                   .Doc("x - log(sum(exp(x))) along the last dimension.")
                   .Shape(SoftmaxShape)
                   .Gradient([](GradientContext& c) {
                     const Output g = c.grad();
                     c.set(0, g - SumLast(g) * Exp(c.output(0)));
                   }));
}

}  // namespace sextant

#include "sextant/ops/nn/cross_entropy.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/broadcast_gradient.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/softmax.h"

namespace sextant {
namespace {

const char* const kCrossEntropyTypes = "T:type in [half,bfloat16,float,double]";

CrossEntropyResult Build(const char* op, Output logits, Output labels) {
  const std::vector<Output> outputs = OpBuilder(op).Input(logits).Input(labels).BuildAll();
  return {outputs[0], outputs[1]};
}

void DenseShape(ShapeContext& c) {
  const PartialShape both = shapes::Broadcast(c.input(0), c.input(1));
  const PartialShape matrix = both.MergeWith(PartialShape::UnknownOfRank(2));
  c.set_output(0, PartialShape{matrix[0]});
  c.set_output(1, matrix);
}

void SparseShape(ShapeContext& c) {
  PartialShape logits = c.InputOfRank(0, 2);
  const PartialShape labels = c.InputOfRank(1, 1);
  const PartialShape rows = PartialShape{logits[0]}.MergeWith(PartialShape{labels[0]});
  logits.set_dim(0, rows[0]);
  c.set_output(0, rows);
  c.set_output(1, logits);
}

// The gradient with respect to the logits: through the loss, and through backprop, which is
// softmax(logits) less something constant.
Output LogitsGradient(GradientContext& c) {
  Output gradient = ExpandDims(c.grad(0), -1) * c.output(1);
  if (c.has_gradient(1)) {
    const Output softmax = Softmax(c.input(0)), g = c.grad(1);
    gradient = gradient + (g - Sum(g * softmax, {1}, {.keep_dims = true})) * softmax;
  }
  return gradient;
}

void DenseGradient(GradientContext& c) {
  const Output logits = LogitsGradient(c);
  if (!c.wanted(1)) return c.set(0, SumToShapeOf(c.input(0), c.input(1), logits));
  const Output labels = ExpandDims(c.grad(0), -1) * -LogSoftmax(c.input(0));
  SetBroadcastGradients(c, logits, labels);
}

}  // namespace

CrossEntropyResult SoftmaxCrossEntropyWithLogits(Output logits, Output labels) {
  return Build("SoftmaxCrossEntropyWithLogits", logits, labels);
}
CrossEntropyResult SparseSoftmaxCrossEntropyWithLogits(Output logits, Output labels) {
  return Build("SparseSoftmaxCrossEntropyWithLogits", logits, labels);
}

void RegisterCrossEntropy(OpRegistry& registry) {
  registry.Add(OpDef("SoftmaxCrossEntropyWithLogits")
                   .Inputs("features:T, labels:T")
                   .Outputs("loss:T, backprop:T")
                   .Attrs(kCrossEntropyTypes)
                   .Doc("Cross entropy between rows of labels and the softmax of rows of features, "
                        "and its gradient with respect to the features.")
                   .Shape(DenseShape)
                   .Gradient(DenseGradient));
  registry.Add(OpDef("SparseSoftmaxCrossEntropyWithLogits")
                   .Inputs("features:T, labels:Tlabels")
                   .Outputs("loss:T, backprop:T")
                   .Attrs(std::string(kCrossEntropyTypes) + "; Tlabels:type=int64 in [int32,int64]")
                   .Doc("Cross entropy of the softmax of rows of features when the class of each "
                        "row is given by its label, and its gradient.")
                   .Shape(SparseShape)
                   .Gradient([](GradientContext& c) { c.set(0, LogitsGradient(c)); }));
}

}  // namespace sextant

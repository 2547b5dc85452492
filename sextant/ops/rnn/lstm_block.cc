#include "sextant/ops/rnn/lstm_block.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/reduce.h"

namespace sextant {
namespace {

const std::string kCell = "x:T, cs_prev:T, h_prev:T, w:T, wci:T, wcf:T, wco:T, b:T";
const std::string kSequence = "seq_len_max:int64, " + kCell;
const std::string kStates = "i:T, cs:T, f:T, o:T, ci:T, co:T";
const std::string kTypes = "use_peephole:bool=False; T:type in [half,float]";
const std::string kGradTypes = "use_peephole:bool; T:type in [half,float]";

void LstmCellShape(ShapeContext& c) {
  const PartialShape x = c.InputOfRank(0, 2), cs = c.InputOfRank(1, 2);
  for (int i = 0; i < 7; ++i) c.set_output(i, PartialShape{x[0], cs[1]});
}

void LstmCellGradShape(ShapeContext& c) {
  const PartialShape x = c.InputOfRank(0, 2), cs = c.InputOfRank(1, 2);
  const int64_t units = cs[1];
  c.set_output(0, PartialShape{x[0], units});
  c.set_output(1, PartialShape{x[0], units < 0 ? units : 4 * units});
  for (int i = 2; i < 5; ++i) c.set_output(i, PartialShape{units});
}

void SequenceShape(ShapeContext& c) {
  const PartialShape x = c.InputOfRank(1, 3), cs = c.InputOfRank(2, 2);
  for (int i = 0; i < 7; ++i) c.set_output(i, PartialShape{x[0], x[1], cs[1]});
}

void SequenceGradShape(ShapeContext& c) {
  c.set_output(0, c.InputOfRank(1, 3));
  c.set_output(1, c.InputOfRank(2, 2));
  c.set_output(2, c.InputOfRank(3, 2));
  c.set_output(3, c.InputOfRank(4, 2));
  for (int i = 4; i < 8; ++i) c.set_output(i, c.InputOfRank(i + 1, 1));
}

void RequireStatesOnly(GradientContext& c) {
  for (int i : {0, 2, 3, 4, 5}) {
    if (!c.has_gradient(i)) continue;
    throw Unimplemented("only the gradients of cs and h of {} are defined", c.node()->type());
  }
}

void LstmCellGradient(GradientContext& c) {
  RequireStatesOnly(c);
  OpBuilder builder("LSTMBlockCellGrad");
  for (int i = 0; i < 8; ++i) builder.Input(c.input(i));
  for (int i = 0; i < 6; ++i) builder.Input(c.output(i));
  builder.Input(c.grad(1)).Input(c.grad(6)).Attr("use_peephole", c.attr<bool>("use_peephole"));
  const std::vector<Output> grads = builder.BuildAll();
  const Output gates = grads[1], x = c.input(0), h = c.input(2);
  const Output joined = MatMul(gates, c.input(3), {.transpose_b = true});
  // [x, h_prev], apart again.
  const std::vector<Output> shapes = ShapeN({x, h});
  const Output inputs = Slice(shapes[0], {1}, {1});
  c.set(0, Slice(joined, {0, 0}, shapes[0]));
  c.set(1, grads[0]);
  c.set(2, Slice(joined, Concat({ConstInts({0}), inputs}, 0), shapes[1]));
  c.set(3, MatMul(Concat({x, h}, 1), gates, {.transpose_a = true}));
  for (int i = 0; i < 3; ++i) c.set(4 + i, grads[2 + i]);
  c.set(7, Sum(gates, {0}));
}

GradientFunction SequenceGradient(const char* op) {
  return [op](GradientContext& c) {
    RequireStatesOnly(c);
    OpBuilder builder(op);
    for (int i = 0; i < 9; ++i) builder.Input(c.input(i));
    for (int i = 0; i < 7; ++i) builder.Input(c.output(i));
    builder.Input(c.grad(1)).Input(c.grad(6)).Attr("use_peephole", c.attr<bool>("use_peephole"));
    const std::vector<Output> grads = builder.BuildAll();
    for (int i = 0; i < 8; ++i) c.set(i + 1, grads[i]);
  };
}

LstmBlockResult Build(OpBuilder& builder, Output x, Output cs_prev, Output h_prev,
                      const LstmWeights& weights) {
  const std::vector<Output> outputs = builder.Input(x)
                                          .Input(cs_prev)
                                          .Input(h_prev)
                                          .Input(weights.w)
                                          .Input(weights.wci)
                                          .Input(weights.wcf)
                                          .Input(weights.wco)
                                          .Input(weights.b)
                                          .BuildAll();
  return {outputs[0], outputs[1], outputs[2], outputs[3], outputs[4], outputs[5], outputs[6]};
}

void SetOptions(OpBuilder& builder, const LstmBlockOptions& options) {
  builder.Attr("forget_bias", options.forget_bias)
      .Attr("cell_clip", options.cell_clip)
      .Attr("use_peephole", options.use_peephole);
}

OpDef SequenceGrad(const char* name, const char* doc) {
  return OpDef(name)
      .Inputs(kSequence + ", " + kStates + ", h:T, cs_grad:T, h_grad:T")
      .Outputs(
          "x_grad:T, cs_prev_grad:T, h_prev_grad:T, w_grad:T, wci_grad:T, wcf_grad:T, "
          "wco_grad:T, b_grad:T")
      .Attrs(kGradTypes)
      .Doc(doc)
      .Shape(SequenceGradShape)
      .NotDifferentiable("TensorFlow defines no second derivative either");
}

}  // namespace

LstmBlockResult LSTMBlockCell(Output x, Output cs_prev, Output h_prev, const LstmWeights& weights,
                              const LstmBlockOptions& options) {
  OpBuilder builder("LSTMBlockCell");
  SetOptions(builder, options);
  return Build(builder, x, cs_prev, h_prev, weights);
}
LstmBlockResult BlockLSTM(Output seq_len_max, Output x, Output cs_prev, Output h_prev,
                          const LstmWeights& weights, const LstmBlockOptions& options) {
  OpBuilder builder("BlockLSTM");
  builder.Input(seq_len_max);
  SetOptions(builder, options);
  return Build(builder, x, cs_prev, h_prev, weights);
}
LstmBlockResult BlockLSTMV2(Output seq_len_max, Output x, Output cs_prev, Output h_prev,
                            const LstmWeights& weights, const LstmBlockV2Options& options) {
  OpBuilder builder("BlockLSTMV2");
  builder.Input(seq_len_max)
      .Attr("cell_clip", options.cell_clip)
      .Attr("use_peephole", options.use_peephole);
  return Build(builder, x, cs_prev, h_prev, weights);
}

void RegisterLstmBlock(OpRegistry& registry) {
  const std::string clip = "forget_bias:float=1.0; cell_clip:float=3.0; ";
  registry.Add(OpDef("LSTMBlockCell")
                   .Inputs(kCell)
                   .Outputs(kStates + ", h:T")
                   .Attrs(clip + kTypes)
                   .Doc("One step of a long short-term memory: gates, cell state and output.")
                   .Shape(LstmCellShape)
                   .Gradient(LstmCellGradient));
  registry.Add(OpDef("LSTMBlockCellGrad")
                   .Inputs(kCell + ", " + kStates + ", cs_grad:T, h_grad:T")
                   .Outputs("cs_prev_grad:T, dicfo:T, wci_grad:T, wcf_grad:T, wco_grad:T")
                   .Attrs(kGradTypes)
                   .Doc("Gradients of LSTMBlockCell with respect to the old cell state, what the "
                        "gates are functions of, and the peephole weights.")
                   .Shape(LstmCellGradShape)
                   .NotDifferentiable("TensorFlow defines no second derivative either"));
  registry.Add(OpDef("BlockLSTM")
                   .Inputs(kSequence)
                   .Outputs(kStates + ", h:T")
                   .Attrs(clip + kTypes)
                   .Doc("The steps of a long short-term memory over a sequence.")
                   .Shape(SequenceShape)
                   .Gradient(SequenceGradient("BlockLSTMGrad")));
  registry.Add(
      OpDef("BlockLSTMV2")
          .Inputs(kSequence)
          .Outputs(kStates + ", h:T")
          .Attrs("cell_clip:float=0.0; " + kTypes)
          .Doc("BlockLSTM without forget bias, with the gates' weights in the order input, "
               "forget, cell, output.")
          .Shape(SequenceShape)
          .Gradient(SequenceGradient("BlockLSTMGradV2")));
  registry.Add(SequenceGrad("BlockLSTMGrad", "Gradients of BlockLSTM."));
  registry.Add(SequenceGrad("BlockLSTMGradV2", "Gradients of BlockLSTMV2."));
}

}  // namespace sextant

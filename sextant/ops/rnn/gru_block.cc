#include "sextant/ops/rnn/gru_block.h"

#include "sextant/graph/gradients.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/op_registry.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/reduce.h"

namespace sextant {
namespace {

constexpr char kInputs[] = "x:T, h_prev:T, w_ru:T, w_c:T, b_ru:T, b_c:T";

// [batch, units] from x and h_prev.
PartialShape StateShape(ShapeContext& c) {
  const PartialShape x = c.InputOfRank(0, 2), h = c.InputOfRank(1, 2);
  const PartialShape batch = PartialShape{x[0]}.MergeWith(PartialShape{h[0]});
  return PartialShape{batch[0], h[1]};
}

void GruCellShape(ShapeContext& c) {
  for (int i = 0; i < 4; ++i) c.set_output(i, StateShape(c));
}

void GruCellGradShape(ShapeContext& c) {
  const PartialShape state = StateShape(c);
  const int64_t units = state[1];
  c.set_output(0, PartialShape{state[0], c.InputOfRank(0, 2)[1]});
  c.set_output(1, state);
  c.set_output(2, state);
  c.set_output(3, PartialShape{state[0], units < 0 ? units : 2 * units});
}

void GruCellGradient(GradientContext& c) {
  for (int i = 0; i < 3; ++i) {
    if (c.has_gradient(i)) {
      throw Unimplemented("only the gradient of the new state of GRUBlockCell is defined");
    }
  }
  OpBuilder builder("GRUBlockCellGrad");
  for (int i = 0; i < 6; ++i) builder.Input(c.input(i));
  for (int i = 0; i < 3; ++i) builder.Input(c.output(i));
  const std::vector<Output> grads = builder.Input(c.grad(3)).BuildAll();
  const Output candidate = grads[2], gates = grads[3];
  c.set(0, grads[0]);
  c.set(1, grads[1]);
  const Output x = c.input(0), h = c.input(1);
  c.set(2, MatMul(Concat({x, h}, 1), gates, {.transpose_a = true}));
  c.set(3, MatMul(Concat({x, h * c.output(0)}, 1), candidate, {.transpose_a = true}));
  c.set(4, Sum(gates, {0}));
  c.set(5, Sum(candidate, {0}));
}

}  // namespace

GruBlockCellResult GRUBlockCell(Output x, Output h_prev, Output w_ru, Output w_c, Output b_ru,
                                Output b_c) {
  const std::vector<Output> outputs = OpBuilder("GRUBlockCell")
                                          .Input(x)
                                          .Input(h_prev)
                                          .Input(w_ru)
                                          .Input(w_c)
                                          .Input(b_ru)
                                          .Input(b_c)
                                          .BuildAll();
  return {outputs[0], outputs[1], outputs[2], outputs[3]};
}

void RegisterGruBlock(OpRegistry& registry) {
  registry.Add(OpDef("GRUBlockCell")
                   .Inputs(kInputs)
                   .Outputs("r:T, u:T, c:T, h:T")
                   .Attrs("T:type in [float]")
                   .Doc("One step of a gated recurrent unit: both gates, the candidate and the new "
                        "state.")
                   .Shape(GruCellShape)
                   .Gradient(GruCellGradient));
  registry.Add(OpDef("GRUBlockCellGrad")
                   .Inputs(std::string(kInputs) + ", r:T, u:T, c:T, d_h:T")
                   .Outputs("d_x:T, d_h_prev:T, d_c_bar:T, d_r_bar_u_bar:T")
                   .Attrs("T:type in [float]")
                   .Doc("Gradients of GRUBlockCell with respect to x, h_prev and what the "
                        "candidate and the gates are functions of.")
                   .Shape(GruCellGradShape)
                   .NotDifferentiable("TensorFlow defines no second derivative either"));
}

}  // namespace sextant

#include "tests/conformance/sequence_model.h"

#include "sextant/base/error.h"
#include "sextant/nn/rnn.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/gather.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/control_flow/functional.h"
#include "sextant/ops/control_flow/tensor_list.h"
#include "sextant/ops/math/arg_reduce.h"
#include "sextant/ops/math/bias.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/matmul.h"

namespace sextant::conformance {
namespace {

rnn::CellRef MakeCell(const SequenceModelParams& params) {
  if (params.cell == "gru") return rnn::GruCell({.units = params.units});
  if (params.cell == "lstm") return rnn::BasicLstmCell({.units = params.units});
  throw InvalidArgument("a sequence model's cell is gru or lstm, not '{}'", params.cell);
}

}  // namespace

Output SequenceModelLogits(Output ids, const SequenceModelParams& params, bool training) {
  const rnn::CellRef cell = MakeCell(params);
  const Variable table =
      GetVariable("embedding", {.shape = {params.vocabulary, params.embedding},
                                .initializer = initializers::RandomUniform(-0.5, 0.5)});
  rnn::State state;
  {
    const VariableScope scope("encoder");
    state = rnn::DynamicRnn(cell, Gather(table, ids)).state;
  }
  const Variable kernel =
      GetVariable("output/kernel", {.shape = {params.units, params.vocabulary}});
  const Variable bias = GetVariable(
      "output/bias", {.shape = {params.vocabulary}, .initializer = initializers::Zeros()});

  const VariableScope scope("decoder");
  const Output time = Squeeze(Slice(ShapeOf(ids), {1}, {1}), {0});
  const Output first = ZerosLike(Slice(ids, {0, 0}, {-1, 1}));
  // Training knows all inputs before: [time, batch, embedding].
  const Output told =
      Concat({first, Slice(ids, {0, 0}, Pack({Const(Tensor(int32_t{-1})), time - 1.0}))}, 1);
  const Output inputs = training ? Transpose(Gather(table, told), {1, 0, 2}) : Output();
  const PartialShape logits_shape({-1, params.vocabulary});
  std::vector<Output> init = {Const(Tensor(int32_t{0})), Squeeze(first, {1}),
                              TensorListReserve(ShapeConstant(logits_shape), time, DType::kFloat)};
  init.insert(init.end(), state.begin(), state.end());
  std::vector<PartialShape> shapes = {PartialShape({}), PartialShape({-1}), PartialShape({})};
  for (const int64_t size : cell->state_sizes()) shapes.push_back(PartialShape({-1, size}));
  const auto body = [&](const std::vector<Output>& vars) -> std::vector<Output> {
    const Output x = training ? Gather(inputs, vars[0]) : Gather(table, vars[1]);
    const auto [output, next] = cell->Step(x, rnn::State(vars.begin() + 3, vars.end()));
    const Output logits = BiasAdd(MatMul(output, kernel), bias);
    const Output said = training ? vars[1] : Cast(ArgMax(logits, 1), ids.dtype());
    std::vector<Output> result = {vars[0] + 1.0, said, TensorListSetItem(vars[2], vars[0], logits)};
    result.insert(result.end(), next.begin(), next.end());
    return result;
  };
  const std::vector<Output> last =
      While([&](const std::vector<Output>& vars) { return Less(vars[0], time); }, body, init,
            {.shape_invariants = shapes});
  return Transpose(TensorListStack(last[2], ShapeConstant(logits_shape), DType::kFloat), {1, 0, 2});
}

}  // namespace sextant::conformance

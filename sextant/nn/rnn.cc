#include "sextant/nn/rnn.h"

#include "sextant/base/error.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/layer_variables.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/array/transpose.h"
#include "sextant/ops/control_flow/functional.h"
#include "sextant/ops/control_flow/tensor_list.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/select.h"

namespace sextant::rnn {
namespace {

Output Dimension(Output x, int i) {
  if (x.shape().rank_known() && x.shape()[i] >= 0) {
    return Const(Tensor(static_cast<int32_t>(x.shape()[i])));
  }
  return Squeeze(Slice(ShapeOf(x), {i}, {1}), {0});
}

// Batch and time change places.
Output SwapFirstTwo(Output x) {
  std::vector<int64_t> order(x.shape().rank());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
  std::swap(order[0], order[1]);
  return Transpose(x, order);
}

}  // namespace

RnnResult StaticRnn(const CellRef& cell, const std::vector<Output>& inputs, const State& initial,
                    const std::string& scope_name) {
  if (inputs.empty()) throw InvalidArgument("StaticRnn: there are no inputs");
  const VariableScope scope(scope_name);
  RnnResult result;
  result.state =
      initial.empty() ? cell->ZeroState(Dimension(inputs[0], 0), inputs[0].dtype()) : initial;
  for (const Output& input : inputs) {
    auto [output, state] = cell->Step(input, result.state);
    result.outputs.push_back(output);
    result.state = std::move(state);
  }
  return result;
}

DynamicRnnResult DynamicRnn(const CellRef& cell, Output inputs, const DynamicRnnOptions& options) {
  layers::CheckRank(inputs, 3, "DynamicRnn");
  const int64_t width = layers::KnownDim(inputs, 2, "DynamicRnn");
  const VariableScope scope(options.scope);
  const Output by_time = options.time_major ? inputs : SwapFirstTwo(inputs);
  const DType dtype = inputs.dtype();
  const int64_t known_batch = by_time.shape()[1];
  const Output time = Dimension(by_time, 0), batch = Dimension(by_time, 1);
  const State initial = options.initial.empty() ? cell->ZeroState(batch, dtype) : options.initial;
  const PartialShape input_shape({known_batch, width});
  const PartialShape output_shape({known_batch, cell->output_size()});
  const Output in_list = TensorListFromTensor(by_time, ShapeConstant(input_shape));
  const Output out_list = TensorListReserve(ShapeConstant(output_shape), time, dtype);
  const Output lengths =
      options.sequence_length ? Cast(options.sequence_length, DType::kInt32) : Output();

  std::vector<Output> init = {Const(Tensor(int32_t{0})), out_list};
  std::vector<PartialShape> shapes = {PartialShape({}), PartialShape({})};
  const std::vector<int64_t> sizes = cell->state_sizes();
  for (size_t i = 0; i < initial.size(); ++i) {
    init.push_back(initial[i]);
    shapes.push_back(PartialShape({known_batch, sizes[i]}));
  }
  const auto body = [&](const std::vector<Output>& vars) -> std::vector<Output> {
    const Output step = vars[0];
    const State state(vars.begin() + 2, vars.end());
    const Output x = TensorListGetItem(in_list, step, ShapeConstant(input_shape), dtype);
    auto [output, next] = cell->Step(x, state);
    if (lengths) {
      const Output going = ExpandDims(Less(step, lengths), 1);
      output = SelectV2(going, output, ZerosLike(output));
      for (size_t i = 0; i < next.size(); ++i) next[i] = SelectV2(going, next[i], state[i]);
    }
    std::vector<Output> result = {step + 1.0, TensorListSetItem(vars[1], step, output)};
    result.insert(result.end(), next.begin(), next.end());
    return result;
  };
  const std::vector<Output> last =
      While([&](const std::vector<Output>& vars) { return Less(vars[0], time); }, body, init,
            {.shape_invariants = shapes});
  DynamicRnnResult result;
  const int64_t known_time = by_time.shape()[0];
  const Output stacked = TensorListStack(last[1], ShapeConstant(output_shape), dtype, known_time);
  result.outputs = options.time_major ? stacked : SwapFirstTwo(stacked);
  result.state.assign(last.begin() + 2, last.end());
  return result;
}

}  // namespace sextant::rnn

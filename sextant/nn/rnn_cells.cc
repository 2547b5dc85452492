#include "sextant/base/error.h"
#include "sextant/nn/layer_variables.h"
#include "sextant/nn/rnn.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/math/bias.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/matmul.h"
#include "sextant/ops/math/trig.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/dropout.h"

namespace sextant::rnn {
namespace {

// [inputs] kernel + bias, the variables "kernel" and "bias" of the current scope.
Output Linear(const std::vector<Output>& inputs, int64_t units,
              const Initializer& kernel_initializer, const Initializer& bias_initializer) {
  int64_t width = 0;
  for (const Output& input : inputs) width += layers::KnownDim(input, -1, "recurrent cell");
  const Variable kernel = GetVariable(
      "kernel",
      {.shape = {width, units}, .dtype = inputs[0].dtype(), .initializer = kernel_initializer});
  const Variable bias = GetVariable(
      "bias", {.shape = {units}, .dtype = inputs[0].dtype(), .initializer = bias_initializer});
  return BiasAdd(MatMul(inputs.size() == 1 ? inputs[0] : Concat(inputs, 1), kernel), bias);
}

layers::Activation OrTanh(const layers::Activation& activation) {
  return activation ? activation : [](Output x) { return Tanh(x); };
}

class Gru : public Cell {
 public:
  explicit Gru(GruCellOptions options) : options_(std::move(options)) {
    layers::CheckPositive(options_.units, "units", "GruCell");
  }
  std::pair<Output, State> Step(Output x, const State& state) const override {
    const VariableScope scope(options_.name, Reuse::kAuto);
    const Output h = state.at(0);
    std::vector<Output> gates;
    {
      const VariableScope inside("gates");
      const Initializer bias =
          options_.bias_initializer ? options_.bias_initializer : initializers::Ones();
      gates = Split(Sigmoid(Linear({x, h}, 2 * options_.units, options_.kernel_initializer, bias)),
                    2, 1);
    }
    const Output r = gates[0], u = gates[1];
    const VariableScope inside("candidate");
    const Initializer bias =
        options_.bias_initializer ? options_.bias_initializer : initializers::Zeros();
    const Output c = OrTanh(options_.activation)(
        Linear({x, r * h}, options_.units, options_.kernel_initializer, bias));
    const Output next = u * h + (1.0 - u) * c;
    return {next, {next}};
  }
  std::vector<int64_t> state_sizes() const override { return {options_.units}; }
  int64_t output_size() const override { return options_.units; }

 private:
  const GruCellOptions options_;
};

class BasicLstm : public Cell {
 public:
  explicit BasicLstm(LstmCellOptions options) : options_(std::move(options)) {
    layers::CheckPositive(options_.units, "units", "BasicLstmCell");
  }
  std::pair<Output, State> Step(Output x, const State& state) const override {
    const VariableScope scope(options_.name, Reuse::kAuto);
    const layers::Activation activation = OrTanh(options_.activation);
    const auto [c, h] = LstmState(state);
    const std::vector<Output> parts = Split(
        Linear({x, h}, 4 * options_.units, options_.kernel_initializer, initializers::Zeros()), 4,
        1);
    const Output forget = Sigmoid(parts[2] + static_cast<double>(options_.forget_bias));
    const Output new_c = c * forget + Sigmoid(parts[0]) * activation(parts[1]);
    const Output new_h = activation(new_c) * Sigmoid(parts[3]);
    return {new_h, LstmState(new_c, new_h)};
  }
  std::vector<int64_t> state_sizes() const override { return {options_.units, options_.units}; }
  int64_t output_size() const override { return options_.units; }

 private:
  const LstmCellOptions options_;
};

class BasicRnn : public Cell {
 public:
  explicit BasicRnn(BasicRnnCellOptions options) : options_(std::move(options)) {
    layers::CheckPositive(options_.units, "units", "BasicRnnCell");
  }
  std::pair<Output, State> Step(Output x, const State& state) const override {
    const VariableScope scope(options_.name, Reuse::kAuto);
    const Output next = OrTanh(options_.activation)(
        Linear({x, state.at(0)}, options_.units, {}, initializers::Zeros()));
    return {next, {next}};
  }
  std::vector<int64_t> state_sizes() const override { return {options_.units}; }
  int64_t output_size() const override { return options_.units; }

 private:
  const BasicRnnCellOptions options_;
};

class Multi : public Cell {
 public:
  explicit Multi(std::vector<CellRef> cells) : cells_(std::move(cells)) {
    if (cells_.empty()) throw InvalidArgument("MultiRnnCell needs at least one cell");
  }
  std::pair<Output, State> Step(Output x, const State& state) const override {
    const VariableScope scope("multi_rnn_cell", Reuse::kAuto);
    State next;
    auto at = state.begin();
    for (size_t i = 0; i < cells_.size(); ++i) {
      const VariableScope inside("cell_" + std::to_string(i));
      const auto size = static_cast<std::ptrdiff_t>(cells_[i]->state_sizes().size());
      const auto [y, part] = cells_[i]->Step(x, State(at, at + size));
      at += size;
      x = y;
      next.insert(next.end(), part.begin(), part.end());
    }
    return {x, next};
  }
  std::vector<int64_t> state_sizes() const override {
    std::vector<int64_t> sizes;
    for (const CellRef& cell : cells_) {
      for (const int64_t size : cell->state_sizes()) sizes.push_back(size);
    }
    return sizes;
  }
  int64_t output_size() const override { return cells_.back()->output_size(); }
  State LayerState(const State& state, size_t layer) const override {
    if (layer >= cells_.size() || state.size() != state_sizes().size()) {
      throw InvalidArgument("there is no layer {} in a state of {} tensors of {} cells", layer,
                            state.size(), cells_.size());
    }
    auto at = state.begin();
    for (size_t i = 0; i < layer; ++i) {
      at += static_cast<std::ptrdiff_t>(cells_[i]->state_sizes().size());
    }
    return State(at, at + static_cast<std::ptrdiff_t>(cells_[layer]->state_sizes().size()));
  }

 private:
  const std::vector<CellRef> cells_;
};

class WithDropout : public Cell {
 public:
  WithDropout(CellRef cell, const DropoutWrapperOptions& options)
      : cell_(std::move(cell)), options_(options) {}
  std::pair<Output, State> Step(Output x, const State& state) const override {
    auto [y, next] = cell_->Step(Dropped(x, options_.input_rate), state);
    return {Dropped(y, options_.output_rate), next};
  }
  std::vector<int64_t> state_sizes() const override { return cell_->state_sizes(); }
  int64_t output_size() const override { return cell_->output_size(); }

 private:
  Output Dropped(Output x, float rate) const {
    return options_.training && rate > 0 ? Dropout(x, {.rate = rate}) : x;
  }
  const CellRef cell_;
  const DropoutWrapperOptions options_;
};

}  // namespace

LstmState::LstmState(const State& state) {
  if (state.size() != 2) {
    throw InvalidArgument("the state of an LSTM cell has two tensors, c and h, not {}",
                          state.size());
  }
  c = state[0];
  h = state[1];
}

State Cell::LayerState(const State& state, size_t layer) const {
  if (layer != 0) throw InvalidArgument("a cell that is not a MultiRnnCell has no layer {}", layer);
  return state;
}

State Cell::ZeroState(Output batch, DType dtype) const {
  const NameScope scope("zeros");
  State state;
  for (const int64_t size : state_sizes()) {
    const Output shape = Pack({batch, Const(Tensor(static_cast<int32_t>(size)))});
    state.push_back(Fill(shape, Const(Tensor::Zeros(dtype, Shape()))));
  }
  return state;
}

CellRef GruCell(const GruCellOptions& options) { return std::make_shared<Gru>(options); }
CellRef BasicLstmCell(const LstmCellOptions& options) {
  return std::make_shared<BasicLstm>(options);
}
CellRef BasicRnnCell(const BasicRnnCellOptions& options) {
  return std::make_shared<BasicRnn>(options);
}
CellRef MultiRnnCell(std::vector<CellRef> cells) {
  return std::make_shared<Multi>(std::move(cells));
}
CellRef DropoutWrapper(CellRef cell, const DropoutWrapperOptions& options) {
  return std::make_shared<WithDropout>(std::move(cell), options);
}

}  // namespace sextant::rnn

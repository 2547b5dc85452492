// Recurrent cells and their unrolling, with TensorFlow's variables: "rnn/gru_cell/gates/kernel", ….
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/nn/initializers.h"
#include "sextant/nn/layers.h"

#pragma GCC visibility push(default)

namespace sextant::rnn {

// A cell's state: one tensor (GRU) or several (LSTM: LstmState).
using State = std::vector<Output>;

// The state of an LSTM cell by the names of its parts; converts from and to State.
struct SEXTANT_API LstmState {
  Output c, h;

  LstmState() = default;
  LstmState(Output c_part, Output h_part) : c(c_part), h(h_part) {}
  // Throws INVALID_ARGUMENT unless the state is that of one LSTM cell.
  LstmState(const State& state);             // NOLINT
  operator State() const { return {c, h}; }  // NOLINT
};

// A description; the variables are made, or found again, in the VariableScope in which the cell is
// called.
class SEXTANT_API Cell {
 public:
  virtual ~Cell() = default;
  // One step: x [batch, inputs] → (output [batch, units], new state).
  virtual std::pair<Output, State> Step(Output x, const State& state) const = 0;
  virtual std::vector<int64_t> state_sizes() const = 0;
  virtual int64_t output_size() const = 0;
  // The part of a MultiRnnCell's state that belongs to layer i, e.g. LstmState s =
  // cell->LayerState(state, 1). Other cells have one layer.
  virtual State LayerState(const State& state, size_t layer) const;
  // Zeros for a batch: a number, or a scalar tensor.
  State ZeroState(Output batch, DType dtype = DType::kFloat) const;
};
using CellRef = std::shared_ptr<const Cell>;

struct SEXTANT_API GruCellOptions {
  int64_t units = 0;
  layers::Activation activation = {};  // default: tanh
  Initializer kernel_initializer = {};
  Initializer bias_initializer = {};  // default: gates 1, candidate 0
  std::string name = "gru_cell";
};
// [r, u] = sigmoid([x, h] gates); c = act([x, r h] candidate); h' = u h + (1 - u) c
CellRef GruCell(const GruCellOptions& options);

struct SEXTANT_API LstmCellOptions {
  int64_t units = 0;
  float forget_bias = 1;
  layers::Activation activation = {};
  Initializer kernel_initializer = {};
  std::string name = "basic_lstm_cell";
};
// [i, j, f, o] = [x, h] kernel + bias; c' = c sigmoid(f + forget_bias) + sigmoid(i) act(j);
// h' = act(c') sigmoid(o). The state is an LstmState.
CellRef BasicLstmCell(const LstmCellOptions& options);

struct SEXTANT_API BasicRnnCellOptions {
  int64_t units = 0;
  layers::Activation activation = {};
  std::string name = "basic_rnn_cell";
};
CellRef BasicRnnCell(const BasicRnnCellOptions& options);

// Stacked cells: scopes "multi_rnn_cell/cell_0/…".
CellRef MultiRnnCell(std::vector<CellRef> cells);

// Applies dropout to a cell's output (and input) at every step.
struct SEXTANT_API DropoutWrapperOptions {
  float input_rate = 0;
  float output_rate = 0;
  bool training = true;
};
CellRef DropoutWrapper(CellRef cell, const DropoutWrapperOptions& options);

struct SEXTANT_API RnnResult {
  std::vector<Output> outputs;  // per time step
  State state;                  // after the last step
};
// One copy of the cell per time step, variables in the scope "rnn".
RnnResult StaticRnn(const CellRef& cell, const std::vector<Output>& inputs,
                    const State& initial = {}, const std::string& scope = "rnn");

struct SEXTANT_API DynamicRnnOptions {
  State initial = {};           // default: zeros
  Output sequence_length = {};  // [batch]: beyond it outputs are 0 and the state stays
  bool time_major = false;      // inputs are [time, batch, ...]
  std::string scope = "rnn";
};
struct SEXTANT_API DynamicRnnResult {
  Output outputs;  // [batch, time, units], or time major
  State state;     // after the last step
};
// A loop over the time dimension.
DynamicRnnResult DynamicRnn(const CellRef& cell, Output inputs,
                            const DynamicRnnOptions& options = {});

}  // namespace sextant::rnn

#pragma GCC visibility pop

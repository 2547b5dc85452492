// LSTMBlockCell, BlockLSTM, BlockLSTMV2: long short-term memory as single ops: one step, or all
// steps of a sequence.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API LstmBlockOptions {
  float forget_bias = 1.0f;  // added to what the forget gate is a function of
  float cell_clip = 3.0f;    // the cell state is kept in [-cell_clip, cell_clip]; <= 0: any
  // Gates also see the cell state, through the weights wci, wcf and wco [units]; these are inputs
  // in any case.
  bool use_peephole = false;
};

// Each [batch, units], for a sequence [time, batch, units].
struct SEXTANT_API LstmBlockResult {
  Output i;   // input gate
  Output cs;  // cell state: i * ci + f * cs_prev
  Output f;   // forget gate
  Output o;   // output gate
  Output ci;  // cell input
  Output co;  // tanh(cs)
  Output h;   // o * co
};

struct SEXTANT_API LstmWeights {
  Output w;  // [inputs + units, 4 * units]: i, ci, f, o side by side
  Output b;  // [4 * units]
  Output wci, wcf, wco;
};

// One step from x [batch, inputs].
LstmBlockResult LSTMBlockCell(Output x, Output cs_prev, Output h_prev, const LstmWeights& weights,
                              const LstmBlockOptions& options = {});
// The first seq_len_max (a scalar int64) steps of x [time, batch, inputs]; zeros behind them.
LstmBlockResult BlockLSTM(Output seq_len_max, Output x, Output cs_prev, Output h_prev,
                          const LstmWeights& weights, const LstmBlockOptions& options = {});

struct SEXTANT_API LstmBlockV2Options {
  float cell_clip = 0.0f;
  bool use_peephole = false;
};
// BlockLSTM without forget bias, whose weights have i, f, ci, o side by side.
LstmBlockResult BlockLSTMV2(Output seq_len_max, Output x, Output cs_prev, Output h_prev,
                            const LstmWeights& weights, const LstmBlockV2Options& options = {});

}  // namespace sextant

#pragma GCC visibility pop

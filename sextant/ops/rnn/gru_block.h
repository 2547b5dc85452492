// GRUBlockCell: a step of a gated recurrent unit as one op.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API GruBlockCellResult {
  Output r;  // reset gate: sigmoid of the first half of [x, h_prev] * w_ru + b_ru
  Output u;  // update gate: sigmoid of the second half
  Output c;  // candidate: tanh([x, r * h_prev] * w_c + b_c)
  Output h;  // new state: u * h_prev + (1 - u) * c
};
// One step. x is [batch, inputs], h_prev [batch, units], w_ru [inputs + units, 2 * units],
// w_c [inputs + units, units], b_ru [2 * units], b_c [units].
GruBlockCellResult GRUBlockCell(Output x, Output h_prev, Output w_ru, Output w_c, Output b_ru,
                                Output b_c);

}  // namespace sextant

#pragma GCC visibility pop

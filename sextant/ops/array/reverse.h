// Reverse, ReverseSequence, Roll: reversing dimensions, parts of rows, and shifting them
// cyclically.
#pragma once

#include <cstdint>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// x reversed along these axes.
Output Reverse(Output x, const IndexArg& axes);

struct SEXTANT_API ReverseSequenceOptions {
  int64_t seq_dim = 1;
  int64_t batch_dim = 0;
};
// Of each slice b along batch_dim, the first lengths[b] elements along seq_dim reversed.
Output ReverseSequence(Output x, Output lengths, const ReverseSequenceOptions& options = {});

// y[(i + shift) mod size] = x[i] along each axis; shifts for the same axis add up.
Output Roll(Output x, const IndexArg& shift, const IndexArg& axis);

}  // namespace sextant

#pragma GCC visibility pop

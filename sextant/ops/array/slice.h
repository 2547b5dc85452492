// Slice: a rectangular block of a tensor.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// x[begin[0] : begin[0] + size[0], begin[1] : ...]; a size of -1 means all from begin on.
Output Slice(Output x, const IndexArg& begin, const IndexArg& size);

}  // namespace sextant

#pragma GCC visibility pop

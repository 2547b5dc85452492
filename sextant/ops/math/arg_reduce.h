// Where the largest and the smallest elements are.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

namespace sextant {

struct ArgReduceOptions {
  DType output_type = DType::kInt64;
};

// Index along "axis" of the largest (smallest) element, the first of equals.
Output ArgMax(Output x, const IndexArg& axis, const ArgReduceOptions& options = {});
Output ArgMin(Output x, const IndexArg& axis, const ArgReduceOptions& options = {});

}  // namespace sextant

// ArgMax, ArgMin: the index of the largest and the smallest element.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ArgReduceOptions {
  DType output_type = DType::kInt64;
};

// Index along "axis" of the largest (smallest) element, the first of equals.
Output ArgMax(Output x, const IndexArg& axis, const ArgReduceOptions& options = {});
Output ArgMin(Output x, const IndexArg& axis, const ArgReduceOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

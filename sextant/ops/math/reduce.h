// Sum, Mean, Prod, Max, Min, EuclideanNorm, All, Any: reductions along axes.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ReduceOptions {
  bool keep_dims = false;  // the axes stay, with size 1
};

// Along the axes (negative ones count from the end; none: nothing is folded) ...
Output Sum(Output x, const IndexArg& axes, const ReduceOptions& options = {});   // sum
Output Mean(Output x, const IndexArg& axes, const ReduceOptions& options = {});  // sum / count
Output Prod(Output x, const IndexArg& axes, const ReduceOptions& options = {});  // product
Output Max(Output x, const IndexArg& axes, const ReduceOptions& options = {});   // largest
Output Min(Output x, const IndexArg& axes, const ReduceOptions& options = {});   // smallest
// sqrt(sum(|x|^2))
Output EuclideanNorm(Output x, const IndexArg& axes, const ReduceOptions& options = {});
Output All(Output x, const IndexArg& axes, const ReduceOptions& options = {});  // logical and
Output Any(Output x, const IndexArg& axes, const ReduceOptions& options = {});  // logical or

// The axes that fold x to a scalar: 0, 1, ..., rank - 1.
IndexArg AllAxes(Output x);
// "shape" (an int32 vector) with ones in place of the sizes at the axes, as keep_dims leaves it.
Output ReducedShape(Output shape, Output axes);

}  // namespace sextant

#pragma GCC visibility pop

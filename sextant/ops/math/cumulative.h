// Cumsum, Cumprod, CumulativeLogsumexp: running sums and products along an axis.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API CumulativeOptions {
  bool exclusive = false;  // the element itself does not count; the first result is the empty sum
  bool reverse = false;    // from the last element to the first
};

Output Cumsum(Output x, const IndexArg& axis, const CumulativeOptions& options = {});
Output Cumprod(Output x, const IndexArg& axis, const CumulativeOptions& options = {});
// log(sum(exp(x))) of the elements so far
Output CumulativeLogsumexp(Output x, const IndexArg& axis, const CumulativeOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

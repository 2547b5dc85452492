// Gather, GatherNd: slices of a tensor by index.
#pragma once

#include <cstdint>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API GatherOptions {
  int64_t axis = 0;
  // The first batch_dims dimensions of params and indices go together.
  int64_t batch_dims = 0;
};

// y[p, i, q] = params[p, indices[i], q] where p runs over the dimensions before the axis. An index
// out of range is an error.
Output Gather(Output params, const IndexArg& indices, const GatherOptions& options = {});
// y[i] = params[indices[i, 0], indices[i, 1], ...]
Output GatherNd(Output params, Output indices);

}  // namespace sextant

#pragma GCC visibility pop

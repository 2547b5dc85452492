// ScatterNd, TensorScatterUpdate, -Add, -Sub, -Max, -Min: writing slices into a tensor by index.
// The last dimension of "indices" holds one index.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// Zeros of this shape with updates[i] added at indices[i].
Output ScatterNd(Output indices, Output updates, const IndexArg& shape);
// tensor with updates[i] put at, added to, subtracted from tensor[indices[i]]; or the larger, the
// smaller of both.
Output TensorScatterUpdate(Output tensor, Output indices, Output updates);
Output TensorScatterAdd(Output tensor, Output indices, Output updates);
Output TensorScatterSub(Output tensor, Output indices, Output updates);
Output TensorScatterMax(Output tensor, Output indices, Output updates);
Output TensorScatterMin(Output tensor, Output indices, Output updates);

}  // namespace sextant

#pragma GCC visibility pop

// ResourceGather, ResourceGatherNd, ResourceScatter*: reading and changing rows or slices of a
// variable, given by its handle.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ResourceGatherOptions {
  int64_t batch_dims = 0;
};

// Rows of the variable: out[i..., j...] = v[indices[i...], j...].
Output ResourceGather(Output handle, Output indices, const ResourceGatherOptions& options = {});
// Slices of the variable: out[i..., j...] = v[indices[i..., 0], ..., indices[i..., K-1], j...].
Output ResourceGatherNd(Output handle, Output indices);

// Change rows, one after another where an index repeats: v[indices[i...]] op= updates[i...]. The
// updates may also be one scalar for all.
Operation ResourceScatterUpdate(Output handle, Output indices, Output updates);
Operation ResourceScatterAdd(Output handle, Output indices, Output updates);
Operation ResourceScatterSub(Output handle, Output indices, Output updates);
Operation ResourceScatterMul(Output handle, Output indices, Output updates);
Operation ResourceScatterDiv(Output handle, Output indices, Output updates);
Operation ResourceScatterMin(Output handle, Output indices, Output updates);
Operation ResourceScatterMax(Output handle, Output indices, Output updates);

// The same for slices, found as by ResourceGatherNd.
Operation ResourceScatterNdUpdate(Output handle, Output indices, Output updates);
Operation ResourceScatterNdAdd(Output handle, Output indices, Output updates);
Operation ResourceScatterNdSub(Output handle, Output indices, Output updates);

}  // namespace sextant

#pragma GCC visibility pop

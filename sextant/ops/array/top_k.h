// TopK: the k largest elements of each row.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API TopKOutputs {
  Output values;
  Output indices;
};

// The k largest elements along the last dimension and where they are, largest first; of equal ones
// the first. Without "sorted" their order is unspecified.
TopKOutputs TopK(Output x, const IndexArg& k, bool sorted = true);

}  // namespace sextant

#pragma GCC visibility pop

// OneHot: indices as vectors with one element set.
#pragma once

#include <cstdint>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API OneHotOptions {
  int64_t axis = -1;  // where the new dimension of size depth goes; -1: last
  DType dtype = DType::kFloat;
};

// 1 where the position along the new axis equals the index, else 0; an index outside of [0, depth)
// gives zeros only.
Output OneHot(Output indices, const IndexArg& depth, const OneHotOptions& options = {});
// The same with two scalars in place of 1 and 0.
Output OneHot(Output indices, const IndexArg& depth, Output on_value, Output off_value,
              int64_t axis = -1);

}  // namespace sextant

#pragma GCC visibility pop

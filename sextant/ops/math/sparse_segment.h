// SparseSegmentSum, -Mean, -SqrtN: reductions of gathered rows that have the same segment id, as
// embedding lookups combine them.
#pragma once

#include <optional>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API SparseSegmentOptions {
  // Number of results; the last id plus one when not given.
  std::optional<IndexArg> num_segments;
  // The gradient of data is IndexedSlices.
  bool sparse_gradient = false;
};

// y[s] = fold of data[indices[i]] over the i with segment_ids[i] == s, 0 for ids that do not occur.
// The ids are sorted.
Output SparseSegmentSum(Output data, Output indices, Output segment_ids,
                        const SparseSegmentOptions& options = {});
// ... divided by their number
Output SparseSegmentMean(Output data, Output indices, Output segment_ids,
                         const SparseSegmentOptions& options = {});
// ... divided by the square root of their number
Output SparseSegmentSqrtN(Output data, Output indices, Output segment_ids,
                          const SparseSegmentOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

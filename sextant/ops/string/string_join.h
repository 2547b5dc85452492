// StringJoin, ReduceJoin, UnsortedSegmentJoin: joining strings.
#pragma once

#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API StringJoinOptions {
  std::string separator;
};
// x[0] + separator + x[1] + ... for each element. Scalars go with every element; other shapes must
// be the same.
Output StringJoin(const std::vector<Output>& xs, const StringJoinOptions& options = {});

struct SEXTANT_API ReduceJoinOptions {
  bool keep_dims = false;  // the axes stay, with size 1
  std::string separator;
};
// The strings along the axes joined to one; the first axis given varies fastest.
Output ReduceJoin(Output x, const IndexArg& axes, const ReduceJoinOptions& options = {});

struct SEXTANT_API UnsortedSegmentJoinOptions {
  std::string separator;
};
// The strings with the same segment id joined to one, in order: [num_segments] + the shape of x
// behind that of segment_ids, which is the beginning of x's. A segment without strings is empty.
Output UnsortedSegmentJoin(Output x, Output segment_ids, const IndexArg& num_segments,
                           const UnsortedSegmentJoinOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

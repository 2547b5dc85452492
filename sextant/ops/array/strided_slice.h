// StridedSlice: slicing as Python does: ranges with strides, single indices, "..." and new axes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// One index of a slice. StridedSlice(x, {2, SliceRange(1, -1), Ellipsis(), NewAxis(), SliceAll()})
// is x[2, 1:-1, ..., newaxis, :].
struct SEXTANT_API SliceIndex {
  enum class Kind { kAt, kRange, kEllipsis, kNewAxis };  // as Python writes them
  Kind kind = Kind::kRange;
  std::optional<int64_t> begin, end;  // not set: from the one end, to the other
  int64_t stride = 1;

  SliceIndex() = default;
  SliceIndex(int64_t at) : kind(Kind::kAt), begin(at) {}        // NOLINT
  SliceIndex(int at) : SliceIndex(static_cast<int64_t>(at)) {}  // NOLINT
};

inline SliceIndex SliceRange(std::optional<int64_t> begin, std::optional<int64_t> end,
                             int64_t stride = 1) {
  SliceIndex index;
  index.begin = begin;
  index.end = end;
  index.stride = stride;
  return index;
}
inline SliceIndex SliceAll() { return SliceIndex(); }
inline SliceIndex Ellipsis() {
  SliceIndex index;
  index.kind = SliceIndex::Kind::kEllipsis;
  return index;
}
inline SliceIndex NewAxis() {
  SliceIndex index;
  index.kind = SliceIndex::Kind::kNewAxis;
  return index;
}

Output StridedSlice(Output x, const std::vector<SliceIndex>& indices);

// Bit i of a mask says something of index i; see the op's documentation.
struct SEXTANT_API StridedSliceOptions {
  int64_t begin_mask = 0;
  int64_t end_mask = 0;
  int64_t ellipsis_mask = 0;
  int64_t new_axis_mask = 0;
  int64_t shrink_axis_mask = 0;
};
Output StridedSlice(Output x, const IndexArg& begin, const IndexArg& end, const IndexArg& strides,
                    const StridedSliceOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

// What a StridedSlice takes, worked out from its masks: one range per dimension of the input, and
// how the dimensions of the result follow from them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sextant/tensor/shape.h"

namespace sextant {

class Node;

struct StridedSliceMasks {
  int64_t begin = 0, end = 0, ellipsis = 0, new_axis = 0, shrink_axis = 0;
  // From the attributes begin_mask, end_mask, ...
  static StridedSliceMasks Of(const Node& node);
};

// The operands of the op. Values that are not known before the run are null; "count" is always
// known.
struct StridedSliceArgs {
  int count = 0;
  const int64_t* begin = nullptr;
  const int64_t* end = nullptr;
  const int64_t* strides = nullptr;
};

struct StridedSliceSpec {
  // Along one dimension of the input: elements begin, begin + stride, ..., size of them. Unknown
  // sizes are PartialShape::kUnknown.
  struct Range {
    int64_t begin = 0, stride = 1, size = 0;
  };
  std::vector<Range> ranges;    // one per dimension of the input
  std::vector<int64_t> result;  // sizes of the result

  // Replaces the content. Throws INVALID_ARGUMENT on a zero stride, too many indices, an index out
  // of range or a second ellipsis.
  void Set(const StridedSliceArgs& args, const StridedSliceMasks& masks,
           std::span<const int64_t> input_dims);

 private:
  void AddRange(const StridedSliceArgs& args, const StridedSliceMasks& masks, int i, int64_t dim);
};

}  // namespace sextant

#include "sextant/ops/array/strided_slice_spec.h"

#include <algorithm>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"

namespace sextant {
namespace {

bool Has(int64_t mask, int i) { return i < 63 && (mask >> i & 1) != 0; }

int64_t FromStart(int64_t index, int64_t dim) { return index < 0 ? index + dim : index; }

}  // namespace

StridedSliceMasks StridedSliceMasks::Of(const Node& node) {
  return {node.attr<int64_t>("begin_mask"), node.attr<int64_t>("end_mask"),
          node.attr<int64_t>("ellipsis_mask"), node.attr<int64_t>("new_axis_mask"),
          node.attr<int64_t>("shrink_axis_mask")};
}

void StridedSliceSpec::AddRange(const StridedSliceArgs& args, const StridedSliceMasks& masks, int i,
                                int64_t dim) {
  const int axis = static_cast<int>(ranges.size());
  const bool shrink = Has(masks.shrink_axis, i);
  if (args.strides != nullptr && args.strides[i] == 0) {
    throw InvalidArgument("strides[{}] must be non-zero", i);
  }
  if (shrink && args.strides != nullptr && args.strides[i] < 0) {
    throw InvalidArgument("only stride 1 allowed on non-range indexing, got strides[{}] = {}", i,
                          args.strides[i]);
  }
  Range range{0, args.strides ? args.strides[i] : 1, PartialShape::kUnknown};
  if (shrink) {
    range.size = 1;
    if (args.begin != nullptr && dim != PartialShape::kUnknown) {
      range.begin = FromStart(args.begin[i], dim);
      if (range.begin < 0 || range.begin >= dim) {
        throw InvalidArgument("slice index {} of dimension {} out of bounds for size {}",
                              args.begin[i], axis, dim);
      }
    }
    ranges.push_back(range);
    return;
  }
  const bool from_start = Has(masks.begin, i), to_end = Has(masks.end, i);
  const bool ends_known = (from_start || args.begin != nullptr) && (to_end || args.end != nullptr);
  if (args.strides != nullptr && ends_known && dim != PartialShape::kUnknown) {
    const bool forward = range.stride > 0;
    // Where a range can begin and end, in its direction.
    const int64_t low = forward ? 0 : -1, high = forward ? dim : dim - 1;
    const auto clamp = [&](int64_t index) { return std::clamp(FromStart(index, dim), low, high); };
    range.begin = from_start ? (forward ? low : high) : clamp(args.begin[i]);
    const int64_t end = to_end ? (forward ? high : low) : clamp(args.end[i]);
    const int64_t length = end - range.begin;
    const bool empty = length == 0 || (length < 0) == forward;
    range.size = empty ? 0 : length / range.stride + (length % range.stride != 0);
  }
  ranges.push_back(range);
  result.push_back(range.size);
}

void StridedSliceSpec::Set(const StridedSliceArgs& args, const StridedSliceMasks& masks,
                           std::span<const int64_t> input_dims) {
  ranges.clear();
  result.clear();
  const int rank = static_cast<int>(input_dims.size());
  int indices = 0, ellipses = 0;  // indices that take one dimension of the input each
  for (int i = 0; i < args.count; ++i) {
    if (Has(masks.ellipsis, i)) {
      ++ellipses;
    } else if (!Has(masks.new_axis, i)) {
      ++indices;
    }
  }
  if (ellipses > 1) throw InvalidArgument("Multiple ellipses in slice spec not allowed");
  if (indices > rank) {
    throw InvalidArgument("Index out of range using input dim {}; input has only {} dims", rank,
                          rank);
  }
  const auto take_whole = [&](int count) {
    for (; count > 0; --count) {
      ranges.push_back({0, 1, input_dims[ranges.size()]});
      result.push_back(ranges.back().size);
    }
  };
  for (int i = 0; i < args.count; ++i) {
    if (Has(masks.ellipsis, i)) {
      take_whole(rank - indices);
    } else if (Has(masks.new_axis, i)) {
      result.push_back(1);
    } else {
      AddRange(args, masks, i, input_dims[ranges.size()]);
    }
  }
  if (ellipses == 0) take_whole(rank - indices);
}

}  // namespace sextant

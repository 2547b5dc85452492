// TensorSlice: a rectangular part of a tensor, as partitioned variables are saved and restored.
// Text form: one "start,length" or "-" (all of it) per dimension, joined by ':', e.g. "0,5:-".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/function_ref.h"
#include "sextant/tensor/shape.h"

namespace sextant::proto {
class TensorSliceProto;
}  // namespace sextant::proto

namespace sextant {

class TensorSlice {
 public:
  static constexpr int64_t kFull = -1;
  struct Extent {
    int64_t start = 0;
    int64_t length = kFull;  // kFull: all of the dimension, start is 0
    bool full() const { return length == kFull; }
    bool operator==(const Extent&) const = default;
  };

  // Of rank 0: a scalar, whole.
  TensorSlice() = default;
  static TensorSlice Full(int rank);
  // These throw INVALID_ARGUMENT on anything malformed, negative starts and lengths below 1.
  explicit TensorSlice(std::vector<Extent> extents);
  static TensorSlice Parse(std::string_view text);
  static TensorSlice FromProto(const proto::TensorSliceProto& proto);

  int rank() const { return static_cast<int>(extents_.size()); }
  const Extent& extent(int i) const { return extents_[i]; }
  // Every dimension is marked as full.
  bool full() const;

  // The shape of this part of a tensor. Throws INVALID_ARGUMENT unless it lies inside.
  Shape ShapeIn(const Shape& tensor) const;
  // Whether this part is all of a tensor of this shape. Throws as ShapeIn.
  bool Covers(const Shape& tensor) const { return ShapeIn(tensor) == tensor; }
  // The same part with a start and a length for every dimension. Throws as ShapeIn.
  TensorSlice In(const Shape& tensor) const;
  // What both have in common, if anything. REQUIRES: both of one rank and made by In.
  std::optional<TensorSlice> Intersection(const TensorSlice& other) const;

  bool operator==(const TensorSlice&) const = default;
  std::string ToString() const;
  void ToProto(proto::TensorSliceProto* proto) const;

 private:
  std::vector<Extent> extents_;
};

// What SaveV2 and RestoreV2 call shape_and_slice: "3 4 0,2:-" is rows 0 and 1 of a tensor of shape
// [3,4].
struct ShapeAndSlice {
  Shape shape;
  TensorSlice slice;

  // Throws INVALID_ARGUMENT on malformed text and on a slice that does not lie in the shape.
  static ShapeAndSlice Parse(std::string_view text);
};

// The elements that two parts of one tensor have in common, as runs of neighbours: calls
// fn(first, second, count) with the positions of a run inside each part, both row-major.
// REQUIRES: both slices of one rank and made by In.
void ForEachCommonRun(const TensorSlice& a, const TensorSlice& b,
                      FunctionRef<void(int64_t, int64_t, int64_t)> fn);

}  // namespace sextant

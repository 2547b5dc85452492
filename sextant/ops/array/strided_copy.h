// StridedCopy: copies a box of elements between two layouts given by strides. Slices, transposes,
// tiles, reversals, joins and splits are all made of it.
#pragma once

#include <cstdint>

#include "sextant/device/kernel.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class StridedCopy {
 public:
  // Dimensions are added from the outermost of the destination inwards, strides in elements. A
  // source stride may be negative (reversed) or 0 (repeated). Sizes of 1 are left out and
  // neighbours that lie as one in both layouts are merged. Throws UNIMPLEMENTED above kMaxDims
  // dimensions.
  void Add(int64_t size, int64_t dst_stride, int64_t src_stride);

  // Copies element by element position; offsets, in elements, are where the box starts.
  // REQUIRES: the box lies inside both tensors, of one dtype, whose buffers do not overlap.
  void Run(KernelContext& ctx, Tensor& dst, int64_t dst_offset, const Tensor& src,
           int64_t src_offset) const;

 private:
  static constexpr int kMaxDims = 32;
  struct Dim {
    int64_t size, dst_stride, src_stride;
  };
  struct Offsets {
    int64_t dst = 0, src = 0;
  };
  // Iterates over the positions of dims [0, count) in row-major order.
  class IndexIterator;

  template <typename T>
  void RunTyped(KernelContext& ctx, T* dst, const T* src) const;
  template <typename T>
  void RunRows(KernelContext& ctx, T* dst, const T* src) const;
  template <typename T>
  void RunTransposed(KernelContext& ctx, T* dst, const T* src, int unit_dim) const;
  // The dimension along which the source is contiguous though the destination's innermost is not;
  // -1.
  int TransposedDim() const;
  int64_t Rows(int count) const;

  int count_ = 0;
  bool empty_ = false;
  Dim dims_[kMaxDims];
};

// dst.num_elements() elements of dst := value, by the size of T.
void FillElements(KernelContext& ctx, Tensor& dst, const Tensor& value);
// All elements zero, false or empty.
void ZeroElements(KernelContext& ctx, Tensor& dst);

}  // namespace sextant

#include "sextant/ops/array/strided_copy.h"

#include <algorithm>
#include <type_traits>

#include "sextant/base/error.h"
#include "sextant/ops/array/element_type.h"
#include "sextant/ops/array/row_copy.h"

namespace sextant {
namespace {

constexpr double kCostPerByte = 0.1;  // nanoseconds; memory bandwidth of one core
constexpr int64_t kTile = 16;         // a tile of 4-byte elements fills 16 cache lines

template <typename T>
void CopyRow(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t size) {
  if (dst_stride == 1 && src_stride == 1) {
    std::copy_n(src, size, dst);
  } else if (dst_stride == 1 && src_stride == 0) {
    std::fill_n(dst, size, *src);
  } else {
    for (int64_t i = 0; i < size; ++i) dst[i * dst_stride] = src[i * src_stride];
  }
}

}  // namespace

class StridedCopy::IndexIterator {
 public:
  IndexIterator(const Dim* dims, int count, int64_t position) : dims_(dims), count_(count) {
    for (int d = count - 1; d >= 0; --d) {
      index_[d] = position % dims[d].size;
      position /= dims[d].size;
      offsets_.dst += index_[d] * dims[d].dst_stride;
      offsets_.src += index_[d] * dims[d].src_stride;
    }
  }
  const Offsets& offsets() const { return offsets_; }
  void Next() {
    for (int d = count_ - 1; d >= 0; --d) {
      offsets_.dst += dims_[d].dst_stride;
      offsets_.src += dims_[d].src_stride;
      if (++index_[d] < dims_[d].size) return;
      index_[d] = 0;
      offsets_.dst -= dims_[d].size * dims_[d].dst_stride;
      offsets_.src -= dims_[d].size * dims_[d].src_stride;
    }
  }

 private:
  const Dim* dims_;
  const int count_;
  int64_t index_[kMaxDims];
  Offsets offsets_;
};

void StridedCopy::Add(int64_t size, int64_t dst_stride, int64_t src_stride) {
  if (size == 0) empty_ = true;
  if (size == 1) return;
  if (count_ > 0) {
    Dim& outer = dims_[count_ - 1];
    if (outer.dst_stride == size * dst_stride && outer.src_stride == size * src_stride) {
      outer = {outer.size * size, dst_stride, src_stride};
      return;
    }
  }
  if (count_ == kMaxDims) {
    throw Unimplemented("more than {} dimensions that cannot be merged", kMaxDims);
  }
  dims_[count_++] = {size, dst_stride, src_stride};
}

int64_t StridedCopy::Rows(int count) const {
  int64_t rows = 1;
  for (int d = 0; d < count; ++d) rows *= dims_[d].size;
  return rows;
}

int StridedCopy::TransposedDim() const {
  const Dim& inner = dims_[count_ - 1];
  if (inner.dst_stride != 1 || inner.src_stride == 1 || inner.src_stride == 0) return -1;
  for (int d = count_ - 2; d >= 0; --d) {
    if (dims_[d].src_stride == 1) return d;
  }
  return -1;
}

template <typename T>
void StridedCopy::RunRows(KernelContext& ctx, T* dst, const T* src) const {
  const Dim inner = dims_[count_ - 1];
  const double row_cost = 2 + kCostPerByte * sizeof(T) * static_cast<double>(inner.size);
  if (count_ == 1) {
    ctx.ParallelFor(inner.size, kCostPerByte * sizeof(T), [&](int64_t begin, int64_t end) {
      CopyRow(dst + begin * inner.dst_stride, inner.dst_stride, src + begin * inner.src_stride,
              inner.src_stride, end - begin);
    });
    return;
  }
  if constexpr (std::is_trivially_copyable_v<T>) {
    if (count_ == 2 && inner.dst_stride == 1 && inner.src_stride == 1) {
      const Dim rows = dims_[0];
      WithRowCopy(static_cast<size_t>(inner.size) * sizeof(T), [&](auto copy) {
        ctx.ParallelFor(rows.size, row_cost, [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            copy(dst + row * rows.dst_stride, src + row * rows.src_stride);
          }
        });
      });
      return;
    }
  }
  ctx.ParallelFor(Rows(count_ - 1), row_cost, [&](int64_t begin, int64_t end) {
    IndexIterator outer_index(dims_, count_ - 1, begin);
    for (int64_t row = begin; row < end; ++row, outer_index.Next()) {
      CopyRow(dst + outer_index.offsets().dst, inner.dst_stride, src + outer_index.offsets().src,
              inner.src_stride, inner.size);
    }
  });
}

template <typename T>
void StridedCopy::RunTransposed(KernelContext& ctx, T* dst, const T* src, int unit_dim) const {
  // Along "rows" the source is contiguous, along "columns" the destination.
  const Dim rows = dims_[unit_dim], columns = dims_[count_ - 1];
  Dim outer[kMaxDims];
  int outer_count = 0;
  for (int d = 0; d < count_ - 1; ++d) {
    if (d != unit_dim) outer[outer_count++] = dims_[d];
  }
  const int64_t tiles = (rows.size + kTile - 1) / kTile;
  outer[outer_count++] = {tiles, kTile * rows.dst_stride, kTile};
  int64_t units = 1;
  for (int d = 0; d < outer_count; ++d) units *= outer[d].size;
  const double cost =
      2 * kCostPerByte * sizeof(T) * static_cast<double>(std::min(kTile, rows.size) * columns.size);
  ctx.ParallelFor(units, cost, [&](int64_t begin, int64_t end) {
    IndexIterator outer_index(outer, outer_count, begin);
    for (int64_t unit = begin; unit < end; ++unit, outer_index.Next()) {
      T* const dst_tile = dst + outer_index.offsets().dst;
      const T* const src_tile = src + outer_index.offsets().src;
      const int64_t height = std::min(kTile, rows.size - unit % tiles * kTile);
      for (int64_t c = 0; c < columns.size; c += kTile) {
        const int64_t width = std::min(kTile, columns.size - c);
        for (int64_t r = 0; r < height; ++r) {
          T* const to = dst_tile + r * rows.dst_stride + c;
          const T* const from = src_tile + r + c * columns.src_stride;
          for (int64_t i = 0; i < width; ++i) to[i] = from[i * columns.src_stride];
        }
      }
    }
  });
}

template <typename T>
void StridedCopy::RunTyped(KernelContext& ctx, T* dst, const T* src) const {
  if (count_ == 0) {
    *dst = *src;
  } else if (const int unit_dim = TransposedDim(); unit_dim >= 0) {
    RunTransposed(ctx, dst, src, unit_dim);
  } else {
    RunRows(ctx, dst, src);
  }
}

void StridedCopy::Run(KernelContext& ctx, Tensor& dst, int64_t dst_offset, const Tensor& src,
                      int64_t src_offset) const {
  if (empty_) return;
  WithElement(dst.dtype(), [&]<typename T>() {
    RunTyped(ctx, static_cast<T*>(dst.raw_data()) + dst_offset,
             static_cast<const T*>(src.raw_data()) + src_offset);
  });
}

void FillElements(KernelContext& ctx, Tensor& dst, const Tensor& value) {
  WithElement(dst.dtype(), [&]<typename T>() {
    T* const out = static_cast<T*>(dst.raw_data());
    const T element = *static_cast<const T*>(value.raw_data());
    ctx.ParallelFor(dst.num_elements(), kCostPerByte * sizeof(T), [&](int64_t begin, int64_t end) {
      std::fill(out + begin, out + end, element);
    });
  });
}

void ZeroElements(KernelContext& ctx, Tensor& dst) {
  WithElement(dst.dtype(), [&]<typename T>() {
    T* const out = static_cast<T*>(dst.raw_data());
    ctx.ParallelFor(dst.num_elements(), kCostPerByte * sizeof(T),
                    [&](int64_t begin, int64_t end) { std::fill(out + begin, out + end, T{}); });
  });
}

}  // namespace sextant

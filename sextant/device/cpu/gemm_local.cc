// Products in which threads share nothing but the matrices: there is no barrier between packing and
// multiplying, and no copy of b that would be used only once. A step of a small recurrent net is
// such products of, say, 64 x 200 x 200.
//
// - b small (512 KB) and its rows no multiple of 1 KB apart: used where it lies (RowsInPlace). Each
//   thread takes rows of c. Only columns that do not fill a vector are copied, padded with zeros.
// - few rows, b large: each thread takes panels of columns (ColsPacked) and packs them for itself,
//   256 of the depth at a time, so that they stay in its second-level cache.
//
// Rows that are a multiple of 1 KB apart fall on few sets of the first-level cache and evict each
// other; such operands are copied to a stride that does not (Conflicts).
//
// Invariant: as in gemm.cc, an element is summed over the depth in order, in blocks whose length
// does not depend on threads. MultiplySum adds several products element by element, from the first
// to the last: the bits of Gemm followed by additions.
#include "sextant/device/cpu/gemm_local.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "sextant/device/cpu/gemm_kernels.h"
#include "sextant/device/cpu/thread_scratch.h"

namespace sextant::gemm {
namespace {

// Scratch memory, see ThreadScratch.
struct CompactRows;
struct PackedColumns;

constexpr int64_t kFewRows = 192;
constexpr int64_t kSmallProduct = int64_t{1} << 24;  // multiply-adds
// b is used where it lies when it stays in the second-level cache.
constexpr int64_t kInPlaceBytes = 512 << 10;
// Blocks that a thread packs for itself: they fit its second-level cache.
constexpr int64_t kDepthBlock = 256;
constexpr int64_t kColBlock = 128;
constexpr int64_t kRowBlock = 96;
constexpr double kMultiplyCost = 0.02;  // nanoseconds

// Lines that are such a stride apart fall on few sets of the first-level cache.
template <typename T>
bool Conflicts(int64_t stride) {
  return stride * static_cast<int64_t>(sizeof(T)) % 1024 == 0;
}

template <typename T>
bool InPlace(int64_t depth, MatrixView<T> b) {
  return b.col_stride == 1 && !Conflicts<T>(b.row_stride) &&
         depth * b.row_stride * static_cast<int64_t>(sizeof(T)) <= kInPlaceBytes;
}

template <typename T>
class LocalProduct {
 public:
  LocalProduct(int64_t rows, int64_t cols, int64_t depth, MatrixView<T> a, MatrixView<T> b, T* c,
               int64_t c_stride)
      : kernels_(BestKernels<T>()),
        rows_(rows),
        cols_(cols),
        depth_(depth),
        a_(a),
        b_(b),
        c_(c),
        c_stride_(c_stride) {}

  // Rows [begin, end) with b where it lies; written or added.
  void RowsInPlace(int64_t begin, int64_t end, bool add) const {
    const T* rest = PackRest();
    for (int64_t row = begin; row < end; row += kRowBlock) {
      BlockInPlace(row, std::min(kRowBlock, end - row), rest, add);
    }
  }

  // Every thread packs the columns of b that it works on.
  void RunPacked(KernelContext& ctx) const {
    const int64_t width = kernels_.tile_cols;
    const int64_t panels = (cols_ + width - 1) / width;
    const int64_t most = std::max<int64_t>(1, kColBlock / width);
    const int64_t threads = ctx.threads();
    const int64_t blocks = std::max((panels + most - 1) / most, std::min(threads, panels));
    const double cost = kMultiplyCost * static_cast<double>(rows_ * depth_) *
                        static_cast<double>(cols_) / static_cast<double>(threads);
    std::atomic<int64_t> next{0};
    ctx.ParallelFor(threads, cost, [&](int64_t, int64_t) {
      for (int64_t block; (block = next.fetch_add(1, std::memory_order_relaxed)) < blocks;) {
        const int64_t begin = panels * block / blocks * width;
        const int64_t end = std::min(cols_, panels * (block + 1) / blocks * width);
        ColsPacked(begin, end);
      }
    });
  }

 private:
  int64_t Width(int64_t cols) const {
    return cols > kernels_.tile_cols / 2 ? kernels_.tile_cols : kernels_.tile_cols / 2;
  }

  // Rows [row, row + count) and a block of the depth of a: where they lie, or a compact copy.
  MatrixView<T> Left(int64_t row, int64_t count, int64_t k, int64_t depth, bool copy) const {
    const T* from = a_.data + row * a_.row_stride + k * a_.col_stride;
    if (!copy) return {from, a_.row_stride, a_.col_stride};
    const bool by_rows = a_.col_stride == 1;
    const int64_t lines = by_rows ? count : depth, length = by_rows ? depth : count;
    const int64_t stride = by_rows ? a_.row_stride : a_.col_stride;
    const int64_t to_stride = Conflicts<T>(length) ? length + 16 : length;
    T* to = ThreadScratch<CompactRows, T>(lines * to_stride);
    for (int64_t i = 0; i < lines; ++i) {
      std::memcpy(to + i * to_stride, from + i * stride, length * sizeof(T));
    }
    return by_rows ? MatrixView<T>{to, to_stride, 1} : MatrixView<T>{to, 1, to_stride};
  }

  // The columns that do not fill a vector, padded with zeros; null when there are none.
  const T* PackRest() const {
    const int64_t rest = cols_ % kernels_.tile_cols;
    if (rest == 0 || rest == Width(rest)) return nullptr;
    const int64_t width = Width(rest);
    T* packed = ThreadScratch<PackedColumns, T>(depth_ * width);
    const T* from = b_.data + cols_ - rest;
    for (int64_t k = 0; k < depth_; ++k) {
      T* to = packed + k * width;
      std::copy_n(from + k * b_.row_stride, rest, to);
      std::fill(to + rest, to + width, T(0));
    }
    return packed;
  }

  void BlockInPlace(int64_t row, int64_t count, const T* rest, bool add) const {
    const int64_t stride = a_.col_stride == 1 ? a_.row_stride : a_.col_stride;
    const MatrixView<T> a = Left(row, count, 0, depth_, Conflicts<T>(stride));
    for (int64_t j = 0; j < cols_; j += kernels_.tile_cols) {
      const int64_t cols = std::min<int64_t>(kernels_.tile_cols, cols_ - j), width = Width(cols);
      const bool whole = cols == width;
      kernels_.panel(depth_, a.data, a.row_stride, a.col_stride, whole ? b_.data + j : rest,
                     whole ? b_.row_stride : width, c_ + row * c_stride_ + j, c_stride_, count,
                     static_cast<int>(cols), add);
    }
  }

  void ColsPacked(int64_t begin, int64_t end) const {
    const int64_t width = kernels_.tile_cols, panels = (end - begin + width - 1) / width;
    T* packed = ThreadScratch<PackedColumns, T>(panels * width * kDepthBlock);
    const int64_t stride = a_.col_stride == 1 ? a_.row_stride : a_.col_stride;
    for (int64_t k = 0; k < depth_; k += kDepthBlock) {
      const int64_t depth = std::min(kDepthBlock, depth_ - k);
      PackColumns(begin, end, k, depth, packed);
      for (int64_t row = 0; row < rows_; row += kRowBlock) {
        const int64_t count = std::min(kRowBlock, rows_ - row);
        const MatrixView<T> a = Left(row, count, k, depth, Conflicts<T>(stride));
        for (int64_t j = begin; j < end; j += width) {
          kernels_.panel(depth, a.data, a.row_stride, a.col_stride, packed + (j - begin) * depth,
                         width, c_ + row * c_stride_ + j, c_stride_, count,
                         static_cast<int>(std::min(width, end - j)), k > 0);
        }
      }
    }
  }

  // Panels of tile_cols columns, each as [depth][tile_cols], padded with zeros.
  void PackColumns(int64_t begin, int64_t end, int64_t k, int64_t depth, T* packed) const {
    const int width = kernels_.tile_cols;
    const T* from = b_.data + k * b_.row_stride + begin * b_.col_stride;
    if (b_.row_stride == 1) {
      for (int64_t j = begin; j < end; j += width, packed += depth * width) {
        const int64_t cols = std::min<int64_t>(width, end - j);
        if (cols < width) std::fill_n(packed, depth * width, T(0));
        kernels_.transpose(depth, cols, from + (j - begin) * b_.col_stride, b_.col_stride, width,
                           packed);
      }
      return;
    }
    // Line by line, as memory is read fastest.
    for (int64_t line = 0; line < depth; ++line, from += b_.row_stride) {
      for (int64_t j = begin; j < end; j += width) {
        const int64_t cols = std::min<int64_t>(width, end - j);
        T* to = packed + (j - begin) * depth + line * width;
        if (cols == width) {
          std::memcpy(to, from + (j - begin), width * sizeof(T));
        } else {
          std::copy_n(from + (j - begin), cols, to);
          std::fill(to + cols, to + width, T(0));
        }
      }
    }
  }

  const Kernels<T>& kernels_;
  const int64_t rows_, cols_, depth_;
  const MatrixView<T> a_, b_;
  T* const c_;
  const int64_t c_stride_;
};

}  // namespace

template <typename T>
bool SuitsLocal(int64_t rows, int64_t cols, int64_t depth, MatrixView<T> b) {
  if (rows <= kFewRows) return true;
  return InPlace(depth, b) && cols <= kSmallProduct / rows / depth;
}

template <typename T>
bool WorksInPlace(int64_t rows, int64_t cols, int64_t depth, MatrixView<T> b) {
  return rows > kMaxThin && cols > kMaxThin && depth > 0 && rows * cols * depth > kTinyProduct &&
         InPlace(depth, b) && SuitsLocal(rows, cols, depth, b);
}

template <typename T>
void MultiplySum(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth,
                 std::span<const Factors<T>> factors, T* c, int64_t c_stride) {
  const int64_t granule = BestKernels<T>().tile_rows / 3;
  const double cost = kMultiplyCost *
                      static_cast<double>(granule * static_cast<int64_t>(factors.size())) *
                      static_cast<double>(cols * depth);
  ctx.ParallelFor((rows + granule - 1) / granule, cost, [&](int64_t begin, int64_t end) {
    for (size_t i = 0; i < factors.size(); ++i) {
      LocalProduct<T>(rows, cols, depth, factors[i].a, factors[i].b, c, c_stride)
          .RowsInPlace(begin * granule, std::min(rows, end * granule), i > 0);
    }
  });
}

template <typename T>
void MultiplyLocal(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth, MatrixView<T> a,
                   MatrixView<T> b, T* c, int64_t c_stride) {
  if (InPlace(depth, b)) {
    const Factors<T> factors[] = {{a, b}};
    return MultiplySum<T>(ctx, rows, cols, depth, factors, c, c_stride);
  }
  LocalProduct<T>(rows, cols, depth, a, b, c, c_stride).RunPacked(ctx);
}

template bool SuitsLocal(int64_t, int64_t, int64_t, MatrixView<float>);
template bool SuitsLocal(int64_t, int64_t, int64_t, MatrixView<double>);
template bool WorksInPlace(int64_t, int64_t, int64_t, MatrixView<float>);
template void MultiplySum(KernelContext&, int64_t, int64_t, int64_t,
                          std::span<const Factors<float>>, float*, int64_t);
template void MultiplyLocal(KernelContext&, int64_t, int64_t, int64_t, MatrixView<float>,
                            MatrixView<float>, float*, int64_t);
template void MultiplyLocal(KernelContext&, int64_t, int64_t, int64_t, MatrixView<double>,
                            MatrixView<double>, double*, int64_t);

}  // namespace sextant::gemm

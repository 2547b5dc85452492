// Matrix products by packing and blocking, after Goto and van de Geijn.
//
// The innermost loop (gemm_kernels.cc) multiplies a tile of tile_rows x depth of a with one of
// depth x tile_cols of b and keeps the tile of c in registers. Around it, blocks are chosen by the
// cache they should stay in:
//
//   columns, at most 16 M elements of b:  packed as panels [depth][tile_cols]       memory
//     rows, at most 4 M elements of a:    packed as panels [depth][tile_rows]       level 3
//       unit (120 rows x 256 columns):    taken by the next free thread
//         256 of the depth:               the unit's block of a                     level 2
//           panel of b, tile by tile:     256 x tile_cols of b                      level 1
//
// Units are made smaller where there are too few for the threads (ChooseUnits): 1000^3 has 9 x 4 of
// about 120 x 256, 256^3 with 2 threads 4 x 4 of about 66 x 64. A thread that is held up by another
// process simply takes fewer of them. Units of the same columns follow each other, so that their
// part of b comes from memory once for all rows. All of a is packed again for each part of the
// columns, which therefore are the larger parts: 10,000^3 packs a seven times.
//
// Invariant: an element of c is summed over the depth in blocks of 256, from the first to the last,
// inside a block one after another. Neither units nor threads nor the packed parts change that, so
// the bits of a result depend on sizes alone. Products of few rows or columns (thin) and small ones
// (gemm_local.cc), for which packing would cost more than it saves, have orders of their own.
//
// K. Goto, R. van de Geijn: Anatomy of High-Performance Matrix Multiplication, TOMS 34(3), 2008.
#include "sextant/device/cpu/gemm.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "sextant/device/cpu/gemm_kernels.h"
#include "sextant/device/cpu/gemm_local.h"
#include "sextant/device/cpu/thread_scratch.h"

namespace sextant {
namespace {

using gemm::Kernels;
using gemm::kMaxThin;

// Scratch memory, see ThreadScratch.
struct ThinRows;
struct PackedB;
struct PackedA;
struct PackedBlock;

// Depth of a block: a tile's slices of a and b fit the first-level cache.
constexpr int64_t kDepthBlock = 256;
// Largest unit of work: its block of packed a stays in the second-level cache while it sweeps its
// columns. How a product is cut into units does not change the result.
constexpr int64_t kRowBlock = 120;
constexpr int64_t kColBlock = 256;
constexpr int64_t kSmallestBlock = 48;
// Units of work per thread, for load balance.
constexpr int64_t kUnitsPerThread = 6;
// Bounds the packed copies: larger matrices are multiplied in panels of at most this size.
constexpr int64_t kPackedElementsOfA = int64_t{1} << 22;
constexpr int64_t kPackedElementsOfB = int64_t{1} << 24;
constexpr int64_t kThinCols = 512;
// A unit of packing b: lines long enough for the processor to read ahead.
constexpr int64_t kPackRows = 32;
constexpr int64_t kPackCols = 1024;

constexpr int64_t Blocks(int64_t total, int64_t size) { return (total + size - 1) / size; }
constexpr int64_t RoundUp(int64_t value, int64_t step) { return Blocks(value, step) * step; }

// A copy of a few cache lines, for which memcpy would be a call.
template <typename T>
void CopyLines(const T* from, int64_t count, T* to) {
  constexpr int64_t kLine = 64 / sizeof(T);
  for (; count >= kLine; count -= kLine, from += kLine, to += kLine) std::memcpy(to, from, 64);
  std::copy_n(from, count, to);
}

// Runs body(unit) for every unit, each thread taking the next one that is free.
template <typename F>
void ForUnits(KernelContext& ctx, int64_t units, double cost, const F& body) {
  if (units == 1) return body(0);
  std::atomic<int64_t> next{0};
  ctx.ParallelFor(ctx.threads(), cost * static_cast<double>(units), [&](int64_t, int64_t) {
    for (int64_t unit; (unit = next.fetch_add(1, std::memory_order_relaxed)) < units;) body(unit);
  });
}

template <typename T>
class Product {
 public:
  Product(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth, MatrixView<T> a,
          MatrixView<T> b, T* c, int64_t c_stride)
      : ctx_(ctx),
        kernels_(gemm::BestKernels<T>()),
        rows_(rows),
        cols_(cols),
        depth_(depth),
        a_(a),
        b_(b),
        c_(c),
        c_stride_(c_stride) {}

  // At most kMaxThin rows; the element (i, j) goes to c[i * c_stride + j * c_col].
  void RunThin(int64_t c_col) const {
    const double flop_cost = 0.1 * static_cast<double>(rows_ * depth_);
    if (b_.col_stride == 1) {
      ForUnits(ctx_, Blocks(cols_, kThinCols), flop_cost * kThinCols, [&](int64_t block) {
        const int64_t begin = block * kThinCols, count = std::min(kThinCols, cols_ - begin);
        T sums[kMaxThin * kThinCols];
        kernels_.thin(static_cast<int>(rows_), count, depth_, a_.data, a_.row_stride, a_.col_stride,
                      b_.data + begin, b_.row_stride, sums);
        for (int64_t i = 0; i < rows_; ++i) {
          for (int64_t j = 0; j < count; ++j) {
            c_[i * c_stride_ + (begin + j) * c_col] = sums[i * count + j];
          }
        }
      });
      return;
    }
    const T* a = a_.data;
    int64_t a_row = a_.row_stride;
    if (a_.col_stride != 1) {
      T* copy = ThreadScratch<ThinRows, T>(rows_ * depth_);
      for (int64_t i = 0; i < rows_; ++i) {
        for (int64_t k = 0; k < depth_; ++k) {
          copy[i * depth_ + k] = a_.data[i * a_.row_stride + k * a_.col_stride];
        }
      }
      a = copy;
      a_row = depth_;
    }
    ctx_.ParallelFor(cols_, flop_cost, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        for (int64_t i = 0; i < rows_; ++i) {
          c_[i * c_stride_ + j * c_col] =
              kernels_.dot(depth_, a + i * a_row, b_.data + j * b_.col_stride);
        }
      }
    });
  }

  void RunBlocked() {
    const int64_t part_cols = std::max(RoundUp(kPackedElementsOfB / depth_, kColBlock), kColBlock);
    const int64_t part_rows = std::max(RoundUp(kPackedElementsOfA / depth_, kRowBlock), kRowBlock);
    for (int64_t col = 0; col < cols_; col += part_cols) {
      const int64_t cols = std::min(part_cols, cols_ - col);
      packed_b_ = ThreadScratch<PackedB, T>(RoundUp(cols, kernels_.tile_cols) * depth_);
      for (int64_t row = 0; row < rows_; row += part_rows) {
        Multiply(row, std::min(part_rows, rows_ - row), col, cols);
      }
    }
  }

 private:
  int64_t DepthBlocks() const { return Blocks(depth_, kDepthBlock); }
  int64_t BlockDepth(int64_t block) const {
    return std::min(kDepthBlock, depth_ - block * kDepthBlock);
  }

  // Packed b: panels of tile_cols columns, each as [depth][tile_cols], padded with zeros.
  int64_t UnitsOfB(int64_t cols) const {
    return b_.col_stride == 1 ? Blocks(depth_, kPackRows) * Blocks(cols, kPackCols)
                              : Blocks(cols, kernels_.tile_cols);
  }
  void PackB(int64_t col, int64_t cols, int64_t unit) const {
    if (b_.col_stride != 1) return PackBPanel(col, cols, unit);
    const int width = kernels_.tile_cols;
    const int64_t row_units = Blocks(depth_, kPackRows), row = unit % row_units * kPackRows;
    const int64_t begin = unit / row_units * kPackCols, end = std::min(cols, begin + kPackCols);
    for (int64_t k = row; k < std::min(depth_, row + kPackRows); ++k) {
      const T* in = b_.data + k * b_.row_stride + col;
      for (int64_t j = begin; j < end; j += width) {
        T* out = packed_b_ + j * depth_ + k * width;
        const int64_t count = std::min<int64_t>(width, end - j);
        CopyLines(in + j, count, out);
        std::fill(out + count, out + width, T(0));
      }
    }
  }
  void PackBPanel(int64_t col, int64_t cols, int64_t panel) const {
    const int width = kernels_.tile_cols;
    const int64_t begin = panel * width, count = std::min<int64_t>(width, cols - begin);
    const T* in = b_.data + (col + begin) * b_.col_stride;
    T* out = packed_b_ + begin * depth_;
    if (count < width) std::fill_n(out, depth_ * width, T(0));
    if (b_.row_stride == 1) return kernels_.transpose(depth_, count, in, b_.col_stride, width, out);
    for (int64_t k = 0; k < depth_; ++k) {
      for (int64_t j = 0; j < count; ++j) {
        out[k * width + j] = in[k * b_.row_stride + j * b_.col_stride];
      }
    }
  }

  // Block of packed a: panels of tile_rows rows, each as [depth][tile_rows], padded with zeros.
  void PackA(int64_t row, int64_t rows, int64_t block, T* out) const {
    const int height = kernels_.tile_rows;
    const int64_t depth = BlockDepth(block);
    const T* in = a_.data + row * a_.row_stride + block * kDepthBlock * a_.col_stride;
    for (int64_t i = 0; i < rows; i += height, out += depth * height) {
      const int64_t count = std::min<int64_t>(height, rows - i);
      const T* panel = in + i * a_.row_stride;
      if (count < height) std::fill(out, out + depth * height, T(0));
      if (a_.row_stride == 1) {
        for (int64_t k = 0; k < depth; ++k) {
          for (int64_t r = 0; r < count; ++r) out[k * height + r] = panel[k * a_.col_stride + r];
        }
      } else if (a_.col_stride == 1) {
        kernels_.transpose(depth, count, panel, a_.row_stride, height, out);
      } else {
        for (int64_t r = 0; r < count; ++r) {
          const T* line = panel + r * a_.row_stride;
          for (int64_t k = 0; k < depth; ++k) out[k * height + r] = line[k * a_.col_stride];
        }
      }
    }
  }

  // Blocks of equal size, as large as the threads' need for units allows.
  void ChooseUnits(int64_t rows, int64_t cols, int64_t* row_block, int64_t* col_block) const {
    const auto even = [](int64_t total, int64_t most, int64_t step) {
      return RoundUp(Blocks(total, Blocks(total, most)), step);
    };
    *row_block = even(rows, kRowBlock, kernels_.tile_rows);
    *col_block = even(cols, kColBlock, kernels_.tile_cols);
    const int64_t wanted = ctx_.threads() == 1 ? 1 : kUnitsPerThread * ctx_.threads();
    for (int64_t most = kColBlock; most >= 2 * kSmallestBlock; most /= 2) {
      const auto units = [&] { return Blocks(rows, *row_block) * Blocks(cols, *col_block); };
      if (units() >= wanted) return;
      *col_block = even(cols, most / 2, kernels_.tile_cols);
      if (units() >= wanted) return;
      *row_block = even(rows, most / 4, kernels_.tile_rows);
    }
  }

  // Packs the part of b that starts at "col" too, when it is the first to use it.
  void Multiply(int64_t row, int64_t rows, int64_t col, int64_t cols) const {
    int64_t row_block_size, col_block_size;
    ChooseUnits(rows, cols, &row_block_size, &col_block_size);
    const int64_t row_blocks = Blocks(rows, row_block_size);
    const int64_t col_blocks = Blocks(cols, col_block_size);
    const int64_t depth_blocks = DepthBlocks(), block_size = row_block_size * kDepthBlock;
    // With one column of blocks each block of a is used once: its user packs it.
    const int64_t a_units = col_blocks > 1 ? row_blocks * depth_blocks : 0;
    const int64_t b_units = row == 0 ? UnitsOfB(cols) : 0;
    T* packed_a = a_units > 0 ? ThreadScratch<PackedA, T>(a_units * block_size) : nullptr;
    if (a_units + b_units > 0) {
      const double elements =
          static_cast<double>((a_units > 0 ? rows : 0) + (b_units > 0 ? cols : 0));
      const double cost = 0.2 * elements * static_cast<double>(depth_) / (a_units + b_units);
      ForUnits(ctx_, a_units + b_units, cost, [&](int64_t unit) {
        if (unit < b_units) return PackB(col, cols, unit);
        unit -= b_units;
        const int64_t begin = unit / depth_blocks * row_block_size;
        PackA(row + begin, std::min(row_block_size, rows - begin), unit % depth_blocks,
              packed_a + unit * block_size);
      });
    }
    const double cost = 0.02 * static_cast<double>(row_block_size) *
                        static_cast<double>(col_block_size) * static_cast<double>(depth_);
    ForUnits(ctx_, row_blocks * col_blocks, cost, [&](int64_t unit) {
      const int64_t row_block = unit % row_blocks, col_block = unit / row_blocks;
      const int64_t r = row_block * row_block_size, j = col_block * col_block_size;
      const int64_t count = std::min(row_block_size, rows - r);
      for (int64_t block = 0; block < depth_blocks; ++block) {
        T* a = packed_a ? packed_a + (row_block * depth_blocks + block) * block_size
                        : ThreadScratch<PackedBlock, T>(block_size);
        if (!packed_a) PackA(row + r, count, block, a);
        Block(block, a, row + r, count, col, j, std::min(cols, j + col_block_size));
      }
    });
  }

  // Adds block "block" of the depth to columns [begin, end) of the part of c that starts at "col".
  void Block(int64_t block, const T* a, int64_t row, int64_t rows, int64_t col, int64_t begin,
             int64_t end) const {
    const int width = kernels_.tile_cols;
    const int64_t depth = BlockDepth(block), k = block * kDepthBlock;
    for (int64_t j = begin; j < end; j += width) {
      const T* b = packed_b_ + j * depth_ + k * width;
      kernels_.packed(depth, a, b, b + depth_ * width, c_ + row * c_stride_ + col + j, c_stride_,
                      rows, static_cast<int>(std::min<int64_t>(width, end - j)), block > 0);
    }
  }

  KernelContext& ctx_;
  const Kernels<T>& kernels_;
  const int64_t rows_, cols_, depth_;
  const MatrixView<T> a_, b_;
  T* const c_;
  const int64_t c_stride_;
  T* packed_b_ = nullptr;
};

template <typename T>
void Tiny(int64_t rows, int64_t cols, int64_t depth, MatrixView<T> a, MatrixView<T> b, T* c,
          int64_t c_stride) {
  for (int64_t i = 0; i < rows; ++i) {
    T* row = c + i * c_stride;
    std::fill(row, row + cols, T(0));
    for (int64_t k = 0; k < depth; ++k) {
      const T value = a.data[i * a.row_stride + k * a.col_stride];
      const T* line = b.data + k * b.row_stride;
      for (int64_t j = 0; j < cols; ++j) row[j] += value * line[j * b.col_stride];
    }
  }
}

}  // namespace

template <typename T>
void Gemm(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth, MatrixView<T> a,
          MatrixView<T> b, T* c, int64_t c_stride) {
  if (rows == 0 || cols == 0) return;
  if (rows * cols <= gemm::kTinyProduct && rows * cols * depth <= gemm::kTinyProduct) {
    return Tiny(rows, cols, depth, a, b, c, c_stride);
  }
  if (rows <= kMaxThin && (b.col_stride == 1 || b.row_stride == 1)) {
    return Product<T>(ctx, rows, cols, depth, a, b, c, c_stride).RunThin(1);
  }
  if (cols <= kMaxThin && (a.col_stride == 1 || a.row_stride == 1)) {
    const MatrixView<T> at{a.data, a.col_stride, a.row_stride},
        bt{b.data, b.col_stride, b.row_stride};
    return Product<T>(ctx, cols, rows, depth, bt, at, c, 1).RunThin(c_stride);
  }
  if (depth == 0) {
    for (int64_t i = 0; i < rows; ++i) std::fill(c + i * c_stride, c + i * c_stride + cols, T(0));
    return;
  }
  const bool has_lines =
      (a.row_stride == 1 || a.col_stride == 1) && (b.row_stride == 1 || b.col_stride == 1);
  if (has_lines && gemm::SuitsLocal(rows, cols, depth, b)) {
    return gemm::MultiplyLocal(ctx, rows, cols, depth, a, b, c, c_stride);
  }
  Product<T>(ctx, rows, cols, depth, a, b, c, c_stride).RunBlocked();
}

template void Gemm(KernelContext&, int64_t, int64_t, int64_t, MatrixView<float>, MatrixView<float>,
                   float*, int64_t);
template void Gemm(KernelContext&, int64_t, int64_t, int64_t, MatrixView<double>,
                   MatrixView<double>, double*, int64_t);

}  // namespace sextant

// The register tile of a matrix product, compiled once per instruction set.
//
// A tile of c is rows x 2 vectors of accumulators. For each k of the depth it loads 2 vectors of b,
// broadcasts `rows` elements of a and does 2 * rows multiply-adds:
//
//             b: [v0 v1]            AVX2:     12 + 2 + 1 of 16 registers, 6 x 16 floats
//   a[0] -> c: [s00 s01]            AVX-512: 24 + 2 + 1 of 32 registers, 12 x 32 floats
//   a[1] ->    [s10 s11] ...
//
// The latency of a multiply-add (4 cycles) times the two that start each cycle asks for 8 sums that
// do not wait for each other; 12 and 24 are more than that, and every load is used 6 or 12 times,
// so the loop is bound by the multipliers and not by loads.
//
// Invariant: a tile's sums are formed over k from the first to the last in one accumulator each, in
// every variant (rows that do not fill a tile, half a tile's columns, packed or in place), so which
// of them computes an element does not change its bits.
#include "sextant/device/cpu/gemm_kernels.h"

#include "hwy/cache_control.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/device/cpu/gemm_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// As many rows as accumulators of two vectors fit beside two vectors of b and one of a. A multiple
// of 3, so that a tile of two thirds keeps the multipliers busy too.
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 12;
#else
constexpr int kTileRows = 6;
#endif

template <typename T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <typename T>
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag<T>()));

// One pointer serves three rows: the processor adds one or two strides for free. Of a packed a the
// strides are known.
template <int rows, int vectors, bool packed = false, typename T>
HWY_INLINE void TileOf(int64_t depth, const T* HWY_RESTRICT a, int64_t a_row, int64_t a_depth,
                       const T* HWY_RESTRICT b, int64_t b_stride, T* HWY_RESTRICT c,
                       int64_t c_stride, bool add) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  constexpr int kPointers = packed ? 1 : (rows + 2) / 3;
  constexpr int kRowsOfPointer = packed ? rows : 3;
  if constexpr (packed) {
    a_row = 1;
    a_depth = kTileRows;
  }
  // What the sums are added to is needed only when they are ready.
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) hwy::Prefetch(c + i * c_stride);
  const T* from[kPointers];
  V sums[rows * vectors];
#pragma GCC unroll 4
  for (int i = 0; i < kPointers; ++i) from[i] = a + kRowsOfPointer * i * a_row;
#pragma GCC unroll 24
  for (int i = 0; i < rows * vectors; ++i) sums[i] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k) {
    V line[vectors];
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) line[j] = hn::LoadU(d, b + j * kLanes<T>);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const V value = hn::Set(d, from[i / kRowsOfPointer][i % kRowsOfPointer * a_row]);
#pragma GCC unroll 2
      for (int j = 0; j < vectors; ++j) {
        sums[i * vectors + j] = hn::MulAdd(value, line[j], sums[i * vectors + j]);
      }
    }
#pragma GCC unroll 4
    for (int i = 0; i < kPointers; ++i) from[i] += a_depth;
    b += b_stride;
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
#pragma GCC unroll 2
    for (int j = 0; j < vectors; ++j) {
      T* to = c + i * c_stride + j * kLanes<T>;
      V sum = sums[i * vectors + j];
      if (add) sum = hn::Add(hn::LoadU(d, to), sum);
      hn::StoreU(sum, d, to);
    }
  }
}

template <int vectors, typename T>
int TileRows(int rows, int64_t depth, const T* a, int64_t a_row, int64_t a_depth, const T* b,
             int64_t b_stride, T* c, int64_t c_stride, bool add) {
  constexpr int kLarge = kTileRows, kMiddle = kTileRows * 2 / 3, kSmall = kTileRows / 3;
  // Two middle tiles are faster than a large and a small one.
  if (rows == kLarge || rows > 2 * kMiddle) {
    TileOf<kLarge, vectors>(depth, a, a_row, a_depth, b, b_stride, c, c_stride, add);
    return kLarge;
  }
  if (rows >= kMiddle) {
    TileOf<kMiddle, vectors>(depth, a, a_row, a_depth, b, b_stride, c, c_stride, add);
    return kMiddle;
  }
  if (rows >= kSmall) {
    TileOf<kSmall, vectors>(depth, a, a_row, a_depth, b, b_stride, c, c_stride, add);
    return kSmall;
  }
  TileOf<1, vectors>(depth, a, a_row, a_depth, b, b_stride, c, c_stride, add);
  return 1;
}

template <typename T>
void Panel(int64_t depth, const T* a, int64_t a_row, int64_t a_depth, const T* b, int64_t b_stride,
           T* c, int64_t c_stride, int64_t rows, int cols, bool add) {
  const bool wide = cols > kLanes<T>;
  const int width = wide ? 2 * kLanes<T> : kLanes<T>;
  alignas(64) T whole[kTileRows * 2 * kLanes<T>];
  while (rows > 0) {
    const int most = static_cast<int>(rows < 3 * kTileRows ? rows : 3 * kTileRows);
    T* to = cols == width ? c : whole;
    const int64_t to_stride = cols == width ? c_stride : width;
    const bool add_there = add && cols == width;
    const int done =
        wide ? TileRows<2>(most, depth, a, a_row, a_depth, b, b_stride, to, to_stride, add_there)
             : TileRows<1>(most, depth, a, a_row, a_depth, b, b_stride, to, to_stride, add_there);
    if (to == whole) {
      for (int i = 0; i < done; ++i) {
        for (int j = 0; j < cols; ++j) {
          T& element = c[i * c_stride + j];
          element = add ? element + whole[i * width + j] : whole[i * width + j];
        }
      }
    }
    a += done * a_row;
    c += done * c_stride;
    rows -= done;
  }
}

template <typename T>
void Packed(int64_t depth, const T* a, const T* b, const T* next, T* c, int64_t c_stride,
            int64_t rows, int cols, bool add) {
  constexpr int kWidth = 2 * kLanes<T>;
  constexpr int64_t kLine = 64 / sizeof(T);
  const int64_t tiles = (rows + kTileRows - 1) / kTileRows, lines = depth * kWidth / kLine;
  const int64_t ahead = (lines + tiles - 1) / tiles * kLine;  // a part of it for each tile
  for (; rows > 0; rows -= kTileRows) {
    for (int64_t e = 0; e < ahead; e += kLine) __builtin_prefetch(next + e, 0, 2);
    if (rows >= kTileRows && cols == kWidth) {
      TileOf<kTileRows, 2, true>(depth, a, 1, kTileRows, b, kWidth, c, c_stride, add);
    } else {
      Panel(depth, a, 1, kTileRows, b, kWidth, c, c_stride, HWY_MIN(rows, kTileRows), cols, add);
    }
    a += depth * kTileRows;
    c += kTileRows * c_stride;
    next += ahead;
  }
}

template <typename T>
void Thin(int rows, int64_t cols, int64_t depth, const T* a, int64_t a_row, int64_t a_depth,
          const T* b, int64_t b_stride, T* out) {
  const Tag<T> d;
  for (int64_t i = 0; i < rows * cols; ++i) out[i] = T(0);
  int64_t k = 0;
  for (; k + 4 <= depth; k += 4) {
    const T* b0 = b + k * b_stride;
    const T *b1 = b0 + b_stride, *b2 = b1 + b_stride, *b3 = b2 + b_stride;
    for (int i = 0; i < rows; ++i) {
      const T* values = a + i * a_row + k * a_depth;
      const T x0 = values[0], x1 = values[a_depth], x2 = values[2 * a_depth],
              x3 = values[3 * a_depth];
      const auto v0 = hn::Set(d, x0), v1 = hn::Set(d, x1), v2 = hn::Set(d, x2), v3 = hn::Set(d, x3);
      T* row = out + i * cols;
      int64_t j = 0;
      for (; j + kLanes<T> <= cols; j += kLanes<T>) {
        auto low = hn::MulAdd(v0, hn::LoadU(d, b0 + j), hn::LoadU(d, row + j));
        const auto high = hn::Mul(v2, hn::LoadU(d, b2 + j));
        low = hn::MulAdd(v1, hn::LoadU(d, b1 + j), low);
        hn::StoreU(hn::Add(low, hn::MulAdd(v3, hn::LoadU(d, b3 + j), high)), d, row + j);
      }
      for (; j < cols; ++j) row[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j];
    }
  }
  for (; k < depth; ++k) {
    for (int i = 0; i < rows; ++i) {
      const T value = a[i * a_row + k * a_depth];
      for (int64_t j = 0; j < cols; ++j) out[i * cols + j] += value * b[k * b_stride + j];
    }
  }
}

// out[k * width + j] = in[j * stride + k]
template <typename T>
void Transpose(int64_t depth, int64_t count, const T* HWY_RESTRICT in, int64_t stride, int width,
               T* HWY_RESTRICT out) {
  int64_t j = 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(T) == 4) {
    const hn::FixedTag<T, 4> d;
    for (; j + 4 <= count; j += 4) {
      const T* r0 = in + j * stride;
      const T *r1 = r0 + stride, *r2 = r1 + stride, *r3 = r2 + stride;
      int64_t k = 0;
      for (; k + 4 <= depth; k += 4) {
        const auto v0 = hn::LoadU(d, r0 + k), v1 = hn::LoadU(d, r1 + k);
        const auto v2 = hn::LoadU(d, r2 + k), v3 = hn::LoadU(d, r3 + k);
        const auto low01 = hn::InterleaveLower(d, v0, v1), low23 = hn::InterleaveLower(d, v2, v3);
        const auto high01 = hn::InterleaveUpper(d, v0, v1), high23 = hn::InterleaveUpper(d, v2, v3);
        T* to = out + k * width + j;
        hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, to);
        hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, to + width);
        hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, to + 2 * width);
        hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * width);
      }
      for (; k < depth; ++k) {
        T* to = out + k * width + j;
        to[0] = r0[k];
        to[1] = r1[k];
        to[2] = r2[k];
        to[3] = r3[k];
      }
    }
    const hn::Half<decltype(d)> pair;
    for (; j + 2 <= count; j += 2) {
      const T *r0 = in + j * stride, *r1 = r0 + stride;
      int64_t k = 0;
      for (; k + 4 <= depth; k += 4) {
        const auto v0 = hn::LoadU(d, r0 + k), v1 = hn::LoadU(d, r1 + k);
        const auto low = hn::InterleaveLower(d, v0, v1), high = hn::InterleaveUpper(d, v0, v1);
        T* to = out + k * width + j;
        hn::StoreU(hn::LowerHalf(pair, low), pair, to);
        hn::StoreU(hn::UpperHalf(pair, low), pair, to + width);
        hn::StoreU(hn::LowerHalf(pair, high), pair, to + 2 * width);
        hn::StoreU(hn::UpperHalf(pair, high), pair, to + 3 * width);
      }
      for (; k < depth; ++k) {
        out[k * width + j] = r0[k];
        out[k * width + j + 1] = r1[k];
      }
    }
  }
#endif
  for (; j < count; ++j) {
    for (int64_t k = 0; k < depth; ++k) out[k * width + j] = in[j * stride + k];
  }
}

template <typename T>
T Dot(int64_t depth, const T* a, const T* b) {
  const Tag<T> d;
  constexpr int64_t kStep = 4 * kLanes<T>;
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t k = 0;
  for (; k + kStep <= depth; k += kStep) {
    s0 = hn::MulAdd(hn::LoadU(d, a + k), hn::LoadU(d, b + k), s0);
    s1 = hn::MulAdd(hn::LoadU(d, a + k + kLanes<T>), hn::LoadU(d, b + k + kLanes<T>), s1);
    s2 = hn::MulAdd(hn::LoadU(d, a + k + 2 * kLanes<T>), hn::LoadU(d, b + k + 2 * kLanes<T>), s2);
    s3 = hn::MulAdd(hn::LoadU(d, a + k + 3 * kLanes<T>), hn::LoadU(d, b + k + 3 * kLanes<T>), s3);
  }
  for (; k + kLanes<T> <= depth; k += kLanes<T>) {
    s0 = hn::MulAdd(hn::LoadU(d, a + k), hn::LoadU(d, b + k), s0);
  }
  T sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  for (; k < depth; ++k) sum += a[k] * b[k];
  return sum;
}

template <typename T>
const Kernels<T>* Table() {
  static constexpr Kernels<T> kTable{kTileRows,    2 * kLanes<T>, Panel<T>, Packed<T>,
                                     Transpose<T>, Thin<T>,       Dot<T>};
  return &kTable;
}
const Kernels<float>* FloatTable() { return Table<float>(); }
const Kernels<double>* DoubleTable() { return Table<double>(); }

}  // namespace sextant::gemm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::gemm {
HWY_EXPORT(FloatTable);
HWY_EXPORT(DoubleTable);

template <>
const Kernels<float>& BestKernels() {
  static const Kernels<float>& best = *HWY_DYNAMIC_DISPATCH(FloatTable)();
  return best;
}
template <>
const Kernels<double>& BestKernels() {
  static const Kernels<double>& best = *HWY_DYNAMIC_DISPATCH(DoubleTable)();
  return best;
}
}  // namespace sextant::gemm
#endif

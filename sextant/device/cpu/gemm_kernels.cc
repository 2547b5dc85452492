#include "sextant/device/cpu/gemm_kernels.h"

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sextant/device/cpu/gemm_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::gemm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Two vectors wide; as many rows as accumulators fit beside two vectors of b and one of a.
#if HWY_TARGET == HWY_AVX3
constexpr int kTileRows = 12;
#else
constexpr int kTileRows = 6;
#endif

template <typename T>
using Tag = hn::CappedTag<T, 64 / sizeof(T)>;
template <typename T>
constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag<T>()));

template <int rows, typename T>
HWY_INLINE void TileOf(int64_t depth, const T* HWY_RESTRICT a, const T* HWY_RESTRICT b,
                       int64_t b_stride, T* HWY_RESTRICT c, int64_t c_stride, bool add) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  V left[rows], right[rows];
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) left[i] = right[i] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k) {
    const V b0 = hn::LoadU(d, b);
    const V b1 = hn::LoadU(d, b + kLanes<T>);
#pragma GCC unroll 12
    for (int i = 0; i < rows; ++i) {
      const V value = hn::Set(d, a[i]);
      left[i] = hn::MulAdd(value, b0, left[i]);
      right[i] = hn::MulAdd(value, b1, right[i]);
    }
    a += kTileRows;
    b += b_stride;
  }
#pragma GCC unroll 12
  for (int i = 0; i < rows; ++i) {
    T* row = c + i * c_stride;
    if (add) {
      left[i] = hn::Add(left[i], hn::LoadU(d, row));
      right[i] = hn::Add(right[i], hn::LoadU(d, row + kLanes<T>));
    }
    hn::StoreU(left[i], d, row);
    hn::StoreU(right[i], d, row + kLanes<T>);
  }
}

template <typename T>
void FullTile(int rows, int64_t depth, const T* a, const T* b, int64_t b_stride, T* c,
              int64_t c_stride, bool add) {
  if (rows > kTileRows * 2 / 3) return TileOf<kTileRows>(depth, a, b, b_stride, c, c_stride, add);
  if (rows > kTileRows / 3)
    return TileOf<kTileRows * 2 / 3>(depth, a, b, b_stride, c, c_stride, add);
  TileOf<kTileRows / 3>(depth, a, b, b_stride, c, c_stride, add);
}

template <typename T>
void Tile(int64_t depth, const T* a, const T* b, int64_t b_stride, T* c, int64_t c_stride, int rows,
          int cols, bool add) {
  constexpr int kCols = 2 * kLanes<T>;
  if (cols == kCols && rows % (kTileRows / 3) == 0) {
    return FullTile(rows, depth, a, b, b_stride, c, c_stride, add);
  }
  alignas(64) T whole[kTileRows * kCols];
  FullTile(rows, depth, a, b, b_stride, whole, kCols, false);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < cols; ++j) {
      T& element = c[i * c_stride + j];
      element = add ? element + whole[i * kCols + j] : whole[i * kCols + j];
    }
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
  static constexpr Kernels<T> kTable{kTileRows, 2 * kLanes<T>, Tile<T>, Thin<T>, Dot<T>};
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

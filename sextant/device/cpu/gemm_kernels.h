// The inner loops of Gemm, chosen at run time for the processor.
#pragma once

#include <cstdint>

namespace sextant::gemm {

template <typename T>
struct Kernels {
  int tile_rows;  // at which panel() is fastest
  int tile_cols;
  // Writes (or adds) a * b to rows x cols elements of c, cols <= tile_cols. a's element (i, k) is
  // a[i * a_row + k * a_depth]. Row k of b starts at b + k * b_stride; half a tile's columns are
  // read of it when cols is not more than that, else a tile's.
  void (*panel)(int64_t depth, const T* a, int64_t a_row, int64_t a_depth, const T* b,
                int64_t b_stride, T* c, int64_t c_stride, int64_t rows, int cols, bool add);
  // The same for packed factors: a as tiles of tile_rows rows, each [depth][tile_rows], b as
  // [depth][tile_cols]. Meanwhile the panel of b at "next" comes to the second-level cache.
  void (*packed)(int64_t depth, const T* a, const T* b, const T* next, T* c, int64_t c_stride,
                 int64_t rows, int cols, bool add);
  // out[k * width + j] = in[j * stride + k], for k < depth and j < count.
  void (*transpose)(int64_t depth, int64_t count, const T* in, int64_t stride, int width, T* out);
  // out[i * cols + j] = sum over k of a[i * a_row + k * a_depth] * b[k * b_stride + j], for at most
  // kMaxThin rows.
  void (*thin)(int rows, int64_t cols, int64_t depth, const T* a, int64_t a_row, int64_t a_depth,
               const T* b, int64_t b_stride, T* out);
  // Sum of a[k] * b[k].
  T (*dot)(int64_t depth, const T* a, const T* b);
};

inline constexpr int kMaxThin = 4;
// Products of at most this number of multiply-adds need no kernel.
inline constexpr int64_t kTinyProduct = 512;

template <typename T>
const Kernels<T>& BestKernels();

}  // namespace sextant::gemm

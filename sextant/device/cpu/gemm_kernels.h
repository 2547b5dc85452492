// The inner loops of Gemm, chosen at run time for the processor.
#pragma once

#include <cstdint>

namespace sextant::gemm {

template <typename T>
struct Kernels {
  int tile_rows;
  int tile_cols;
  // Writes (or adds) a * b to the leading rows x cols part of a tile of c. a is packed as
  // [depth][tile_rows]; row k of b starts at b + k * b_stride and holds tile_cols elements.
  void (*tile)(int64_t depth, const T* a, const T* b, int64_t b_stride, T* c, int64_t c_stride,
               int rows, int cols, bool add);
  // out[i * cols + j] = sum over k of a[i * a_row + k * a_depth] * b[k * b_stride + j], for at most
  // kMaxThin rows.
  void (*thin)(int rows, int64_t cols, int64_t depth, const T* a, int64_t a_row, int64_t a_depth,
               const T* b, int64_t b_stride, T* out);
  // Sum of a[k] * b[k].
  T (*dot)(int64_t depth, const T* a, const T* b);
};

inline constexpr int kMaxThin = 4;

template <typename T>
const Kernels<T>& BestKernels();

}  // namespace sextant::gemm

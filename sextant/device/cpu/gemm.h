// Matrix products on the thread team, for float and double.
//
// The sums of an element are formed in an order that depends on the sizes alone, so results do not
// depend on the number of threads. Work is handed out in small units, so that a thread that is held
// up by another process delays the others little. Thread-safe.
#pragma once

#include <cstdint>

#include "sextant/device/kernel.h"

namespace sextant {

// Element (i, j) is data[i * row_stride + j * col_stride]: a transposed matrix has them exchanged.
template <typename T>
struct MatrixView {
  const T* data;
  int64_t row_stride;
  int64_t col_stride;
};

// c = a * b, where a is rows x depth, b is depth x cols, and row i of c starts at c + i * c_stride.
// Fast when one stride of each view is 1. REQUIRES: c overlaps neither a nor b.
template <typename T>
void Gemm(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth, MatrixView<T> a,
          MatrixView<T> b, T* c, int64_t c_stride);

}  // namespace sextant

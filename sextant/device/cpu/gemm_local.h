// Products in which threads share nothing but the matrices themselves: those of few rows, where
// packed copies of b would not pay, and small ones, whose operands are used where they lie.
#pragma once

#include <cstdint>
#include <span>

#include "sextant/device/cpu/gemm.h"

namespace sextant::gemm {

template <typename T>
bool SuitsLocal(int64_t rows, int64_t cols, int64_t depth, MatrixView<T> b);

// As Gemm. REQUIRES: no size is 0; one stride of each view is 1.
template <typename T>
void MultiplyLocal(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth, MatrixView<T> a,
                   MatrixView<T> b, T* c, int64_t c_stride);

// Two matrices to be multiplied.
template <typename T>
struct Factors {
  MatrixView<T> a, b;
};

// Whether a product of these sizes is a large enough one for which b stays where it lies.
template <typename T>
bool WorksInPlace(int64_t rows, int64_t cols, int64_t depth, MatrixView<T> b);

// c = the sum of products of equal sizes: the bits of adding up what Gemm gives, from the first to
// the last. REQUIRES: as MultiplyLocal, and WorksInPlace for every b.
template <typename T>
void MultiplySum(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth,
                 std::span<const Factors<T>> factors, T* c, int64_t c_stride);

}  // namespace sextant::gemm

// Products of matrices of any element type, for the kernels of MatMul and Einsum.
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "sextant/device/cpu/gemm.h"
#include "sextant/device/kernel.h"
#include "sextant/ops/math/wrapping.h"
#include "sextant/tensor/float16.h"

namespace sextant {

// A matrix within a batch: strides of its rows and columns; complex elements may be conjugated.
struct MatrixLayout {
  int64_t row_stride = 0;
  int64_t col_stride = 0;
  bool conjugate = false;

  // Of a row-major matrix stored as [rows, cols], or as [cols, rows] when transposed.
  static MatrixLayout Of(int64_t rows, int64_t cols, bool transposed, bool conjugate = false) {
    return transposed ? MatrixLayout{1, rows, conjugate} : MatrixLayout{cols, 1, conjugate};
  }
};

// Multiplies matrices with elements of type T. 16-bit floats are multiplied as floats, integers
// wrap. Keeps its scratch memory; one thread at a time.
template <typename T>
class MatrixProduct {
 public:
  // c[rows, cols] = a[rows, depth] * b[depth, cols]; c is row-major.
  void Run(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth, const T* a,
           MatrixLayout la, const T* b, MatrixLayout lb, T* c) {
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
      Gemm<T>(ctx, rows, cols, depth, {a, la.row_stride, la.col_stride},
              {b, lb.row_stride, lb.col_stride}, c, cols);
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      const float* x = ToFloat(a, rows * depth, &a_);
      const float* y = ToFloat(b, depth * cols, &b_);
      c_.resize(rows * cols);
      Gemm<float>(ctx, rows, cols, depth, {x, la.row_stride, la.col_stride},
                  {y, lb.row_stride, lb.col_stride}, c_.data(), cols);
      for (int64_t i = 0; i < rows * cols; ++i) c[i] = T(c_[i]);
    } else {
      Plain(ctx, rows, cols, depth, a, la, b, lb, c);
    }
  }
  // Whether Run may be called by several threads at once.
  static constexpr bool kShareable = std::is_same_v<T, float> || std::is_same_v<T, double>;

 private:
  using Scratch =
      std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

  static const float* ToFloat(const T* in, int64_t size, std::vector<float>* out) {
    out->resize(size);
    for (int64_t i = 0; i < size; ++i) (*out)[i] = static_cast<float>(in[i]);
    return out->data();
  }

  static T Conjugated(T value, bool conjugate) {
    if constexpr (std::is_same_v<T, std::complex<float>> ||
                  std::is_same_v<T, std::complex<double>>) {
      return conjugate ? std::conj(value) : value;
    } else {
      return value;
    }
  }

  void Plain(KernelContext& ctx, int64_t rows, int64_t cols, int64_t depth, const T* a,
             MatrixLayout la, const T* b, MatrixLayout lb, T* c) {
    if (lb.col_stride != 1 ||
        lb.conjugate) {  // made row-major, so that the inner loop is contiguous
      b_.resize(depth * cols);
      for (int64_t k = 0; k < depth; ++k) {
        for (int64_t j = 0; j < cols; ++j) {
          b_[k * cols + j] = Conjugated(b[k * lb.row_stride + j * lb.col_stride], lb.conjugate);
        }
      }
      b = b_.data();
      lb.row_stride = cols;
    }
    const double cost = 0.5 * static_cast<double>(cols) * static_cast<double>(depth);
    ctx.ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        T* row = c + i * cols;
        std::fill(row, row + cols, T(0));
        for (int64_t k = 0; k < depth; ++k) {
          const T value = Conjugated(a[i * la.row_stride + k * la.col_stride], la.conjugate);
          const T* line = b + k * lb.row_stride;
          for (int64_t j = 0; j < cols; ++j)
            row[j] = Wrapping::Add(row[j], Wrapping::Mul(value, line[j]));
        }
      }
    });
  }

  std::vector<Scratch> a_, b_, c_;
};

}  // namespace sextant

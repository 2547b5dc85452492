// Pieces of softmax over rows, for float and double: what Softmax and the cross entropies share.
// A row gives the same bits wherever it is.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "sextant/ops/math/elementwise_loops.h"
#include "sextant/ops/nn/fold_lanes.h"

namespace sextant {

// Rows are worked on in blocks of about this many elements, which stay in the cache and keep the
// vector loops busy when rows are short.
inline constexpr int64_t kSoftmaxBlock = 2048;
inline constexpr int64_t kSoftmaxMaxRows = 256;  // in one block

inline int64_t SoftmaxBlockRows(int64_t width) {
  return std::clamp<int64_t>(kSoftmaxBlock / std::max<int64_t>(width, 1), 1, kSoftmaxMaxRows);
}
// Nanoseconds per element, for ParallelFor.
inline constexpr double kSoftmaxCost = 3.0;

// The largest element that is a number. REQUIRES: count > 0.
template <typename T>
T RowMax(const T* x, int64_t count) {
  return FoldLanes(
      count, x[0], [x](int64_t i) { return x[i]; }, [](T a, T b) { return a > b ? a : b; });
}
template <typename T>
T RowSum(const T* x, int64_t count) {
  return FoldLanes(
      count, T(0), [x](int64_t i) { return x[i]; }, [](T a, T b) { return a + b; });
}

inline void ExpAll(const float* x, float* y, int64_t count) {
  static const UnaryLoop loop = FloatUnaryLoop(ElementwiseOp::kExp);
  loop(x, y, count);
}
inline void ExpAll(const double* x, double* y, int64_t count) {
  for (int64_t i = 0; i < count; ++i) y[i] = std::exp(x[i]);
}

}  // namespace sextant

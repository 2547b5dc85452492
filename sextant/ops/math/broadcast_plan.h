// Broadcasting: how two or three shapes become rows of a loop.
//
// Sizes are matched from the last dimension on; a size of 1, or a missing dimension, is repeated.
// Neighbouring dimensions that are repeated in the same way count as one, so that most cases come
// down to one or two loops. Making a plan allocates nothing for ordinary ranks.
#pragma once

#include <cstdint>

#include "sextant/tensor/shape.h"

namespace sextant {

class BroadcastPlan {
 public:
  static constexpr int kMaxOperands = 3;
  static constexpr int kMaxLoops = 9;  // TensorFlow's limit

  // Throws INVALID_ARGUMENT when the shapes cannot be broadcast, UNIMPLEMENTED when that takes more
  // than kMaxLoops loops.
  BroadcastPlan(const Shape& a, const Shape& b);
  BroadcastPlan(const Shape& a, const Shape& b, const Shape& c);

  const Shape& output() const { return output_; }
  // The output is num_rows() rows of row_size() elements each; both are 0 when it is empty.
  int64_t num_rows() const { return num_rows_; }
  int64_t row_size() const { return row_size_; }
  // Distance between an operand's elements along a row: 1, or 0 where one element stands for the
  // row.
  int64_t step(int operand) const { return strides_[operand][num_loops_ - 1]; }

  // Calls fn(first, offsets) for the rows [begin, end): the index of the row's first element in the
  // output and in each operand.
  template <typename F>
  void ForRows(int64_t begin, int64_t end, F&& fn) const {
    int64_t index[kMaxLoops] = {};
    int64_t offsets[kMaxOperands] = {};
    int64_t rest = begin;
    for (int i = num_loops_ - 2; i >= 0; --i) {
      index[i] = rest % sizes_[i];
      rest /= sizes_[i];
      for (int k = 0; k < kMaxOperands; ++k) offsets[k] += index[i] * strides_[k][i];
    }
    for (int64_t row = begin; row < end; ++row) {
      fn(row * row_size_, static_cast<const int64_t*>(offsets));
      for (int i = num_loops_ - 2; i >= 0; --i) {
        for (int k = 0; k < kMaxOperands; ++k) offsets[k] += strides_[k][i];
        if (++index[i] < sizes_[i]) break;
        for (int k = 0; k < kMaxOperands; ++k) offsets[k] -= index[i] * strides_[k][i];
        index[i] = 0;
      }
    }
  }

 private:
  // One loop, where each operand has the shape of the output or one element. False: it takes more.
  bool BuildFlat(const Shape* const* operands, int count);
  void Build(const Shape* const* operands, int count);
  void ComputeStrides(const bool (*repeated)[kMaxLoops], int count);

  Shape output_;
  int num_loops_ = 1;
  int64_t num_rows_ = 0, row_size_ = 0;
  int64_t sizes_[kMaxLoops] = {};
  int64_t strides_[kMaxOperands][kMaxLoops] = {};
};

}  // namespace sextant

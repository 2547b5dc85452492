// SparseInput: a sparse tensor as kernels see it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sextant/tensor/tensor.h"

namespace sextant {

// Views of the three tensors of a sparse tensor (indices and shape are int64 or int32); valid as
// long as those are. Keeps its memory from call to call.
class SparseInput {
 public:
  // Throws INVALID_ARGUMENT unless indices is a [count, rank] matrix, values a vector of length
  // count and shape one of length rank with no negative size. "name" stands in messages: "a_".
  void Set(const Tensor& indices, const Tensor& values, const Tensor& shape, const char* name = "");

  int64_t count() const { return count_; }
  int rank() const { return rank_; }
  // count() rows of rank() numbers.
  const int64_t* indices() const { return indices_; }
  std::span<const int64_t> row(int64_t i) const {
    return {indices_ + i * rank_, static_cast<size_t>(rank_)};
  }
  std::span<const int64_t> shape() const { return {shape_, static_cast<size_t>(rank_)}; }

  // Throws INVALID_ARGUMENT, naming the row, when an index is not in [0, size).
  void CheckBounds() const;
  // Throws INVALID_ARGUMENT when a dense tensor of shape() would have more elements than int64
  // counts.
  void CheckSize() const;
  // Row-major position of row i in a tensor of shape(). REQUIRES: the row is within bounds.
  int64_t Position(int64_t i) const;

 private:
  const int64_t* indices_ = nullptr;
  const int64_t* shape_ = nullptr;
  int64_t count_ = 0;
  int rank_ = 0;
  std::vector<int64_t> wide_indices_, wide_shape_;  // copies of int32 ones
};

// "[1,0,2]"
std::string IndexText(std::span<const int64_t> index);

// Lexicographic comparison of two rows: negative, 0 or positive.
int CompareRows(const int64_t* a, const int64_t* b, int rank);

// The rows' numbers in the lexicographic order of the rows; equal rows keep their order. Returns
// whether the rows were in order already.
bool SortRows(const int64_t* rows, int64_t count, int rank, std::vector<int64_t>* order);

}  // namespace sextant

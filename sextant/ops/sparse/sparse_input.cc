#include "sextant/ops/sparse/sparse_input.h"

#include <algorithm>
#include <numeric>

#include "sextant/ops/array/index_tensor.h"

namespace sextant {
namespace {

const int64_t* WideData(const Tensor& tensor, std::vector<int64_t>* copy) {
  if (tensor.dtype() == DType::kInt64) return tensor.data<int64_t>();
  ReadIndices(tensor, copy);
  return copy->data();
}

}  // namespace

void SparseInput::Set(const Tensor& indices, const Tensor& values, const Tensor& shape,
                      const char* name) {
  if (indices.rank() != 2) {
    throw InvalidArgument("{}indices must be a matrix, got shape {}", name,
                          indices.shape().ToString());
  }
  if (values.rank() != 1 || values.dim(0) != indices.dim(0)) {
    throw InvalidArgument(
        "{}values must be a vector of {} elements, one per row of indices, got "
        "shape {}",
        name, indices.dim(0), values.shape().ToString());
  }
  if (shape.rank() != 1 || shape.dim(0) != indices.dim(1)) {
    throw InvalidArgument(
        "{}shape must be a vector of {} elements, one per column of indices, got "
        "shape {}",
        name, indices.dim(1), shape.shape().ToString());
  }
  if (indices.dim(1) > kMaxRank) {
    throw InvalidArgument("a tensor of rank {} is above the limit {}", indices.dim(1), kMaxRank);
  }
  count_ = indices.dim(0);
  rank_ = static_cast<int>(indices.dim(1));
  indices_ = WideData(indices, &wide_indices_);
  shape_ = WideData(shape, &wide_shape_);
  for (int d = 0; d < rank_; ++d) {
    if (shape_[d] < 0) throw InvalidArgument("{}shape[{}] = {} is negative", name, d, shape_[d]);
  }
}

void SparseInput::CheckBounds() const {
  for (int64_t i = 0; i < count_; ++i) {
    const int64_t* const index = indices_ + i * rank_;
    for (int d = 0; d < rank_; ++d) {
      if (index[d] < 0 || index[d] >= shape_[d]) [[unlikely]] {
        throw InvalidArgument("indices[{}] = {} is out of bounds: need 0 <= index < {}", i,
                              IndexText(row(i)), IndexText(shape()));
      }
    }
  }
}

void SparseInput::CheckSize() const {
  int64_t elements = 1;
  for (const int64_t size : shape()) {
    if (__builtin_mul_overflow(elements, size, &elements)) {
      throw InvalidArgument("the dense shape {} has more elements than int64 counts",
                            IndexText(shape()));
    }
  }
}

int64_t SparseInput::Position(int64_t i) const {
  int64_t position = 0;
  for (int d = 0; d < rank_; ++d) position = position * shape_[d] + indices_[i * rank_ + d];
  return position;
}

std::string IndexText(std::span<const int64_t> index) {
  return fmt::format("[{}]", fmt::join(index, ","));
}

int CompareRows(const int64_t* a, const int64_t* b, int rank) {
  for (int d = 0; d < rank; ++d) {
    if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
  }
  return 0;
}

bool SortRows(const int64_t* rows, int64_t count, int rank, std::vector<int64_t>* order) {
  order->resize(static_cast<size_t>(count));
  std::iota(order->begin(), order->end(), int64_t{0});
  const auto less = [rows, rank](int64_t i, int64_t j) {
    const int compared = CompareRows(rows + i * rank, rows + j * rank, rank);
    return compared != 0 ? compared < 0 : i < j;
  };
  if (std::is_sorted(order->begin(), order->end(), less)) return true;
  std::sort(order->begin(), order->end(), less);
  return false;
}

}  // namespace sextant

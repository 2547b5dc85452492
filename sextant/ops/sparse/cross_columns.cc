#include "sextant/ops/sparse/cross_columns.h"

#include <algorithm>

#include "sextant/base/error.h"

namespace sextant {

void CrossColumnSet::Set(KernelContext& ctx, int num_sparse, int num_dense) {
  columns_.resize(static_cast<size_t>(num_sparse + num_dense));
  features_.resize(columns_.size());
  one_per_row_ = !columns_.empty();
  CheckBatch(ctx, num_sparse, num_dense);
  for (int i = 0; i < num_sparse; ++i) {
    SetSparse(ctx.input(i), ctx.input(num_sparse + i), i, columns_[i]);
  }
  for (int i = 0; i < num_dense; ++i) {
    const Tensor& dense = ctx.input(3 * num_sparse + i);
    Column& column = columns_[num_sparse + i];
    SetValues(dense, column);
    column.width = dense.dim(1);
    one_per_row_ &= column.width == 1;
  }
  Count();
}

// Before anything is allocated: the rows of a sparse column are but a number.
void CrossColumnSet::CheckBatch(KernelContext& ctx, int num_sparse, int num_dense) {
  constexpr int64_t kMaxRows = int64_t{1} << 27;
  batch_ = -1;
  for (int i = 0; i < num_sparse; ++i) {
    const Tensor& shape = ctx.input(2 * num_sparse + i);
    if (shape.rank() != 1 || shape.dim(0) != 2) {
      throw InvalidArgument("the shape of sparse column {} must have 2 elements, got shape {}", i,
                            shape.shape().ToString());
    }
    const int64_t rows = shape.data<int64_t>()[0];
    if (rows < 0) throw InvalidArgument("sparse column {} has {} rows", i, rows);
    SetBatch(rows, "sparse", i);
  }
  for (int i = 0; i < num_dense; ++i) {
    const Tensor& dense = ctx.input(3 * num_sparse + i);
    if (dense.rank() != 2) {
      throw InvalidArgument("dense column {} must be a matrix, got shape {}", i,
                            dense.shape().ToString());
    }
    SetBatch(dense.dim(0), "dense", i);
  }
  if (num_sparse > 0 && batch_ > kMaxRows) {
    throw ResourceExhausted("a cross of sparse columns cannot have {} rows, {} at most", batch_,
                            kMaxRows);
  }
  batch_ = std::max<int64_t>(batch_, 0);
}

void CrossColumnSet::SetSparse(const Tensor& indices, const Tensor& values, int position,
                               Column& column) {
  if (indices.rank() != 2 || indices.dim(1) != 2) {
    throw InvalidArgument("indices of sparse column {} must have shape [n,2], got {}", position,
                          indices.shape().ToString());
  }
  if (values.rank() != 1 || values.dim(0) != indices.dim(0)) {
    throw InvalidArgument("sparse column {} has {} indices, but values of shape {}", position,
                          indices.dim(0), values.shape().ToString());
  }
  SetValues(values, column);
  column.width = -1;
  const int64_t rows = batch_;
  column.starts.resize(static_cast<size_t>(rows) + 1);
  // Entries are expected in order: those that come too late are left out, as TensorFlow does.
  const int64_t* const index = indices.data<int64_t>();
  const int64_t entries = indices.dim(0);
  int64_t next = 0;
  for (int64_t row = 0; row < rows; ++row) {
    column.starts[row] = next;
    one_per_row_ &= next == row;
    while (next < entries && index[2 * next] == row) ++next;
  }
  column.starts[rows] = next;
  one_per_row_ &= next == rows;
}

void CrossColumnSet::SetValues(const Tensor& values, Column& column) const {
  const bool strings = values.dtype() == DType::kString;
  column.strings = strings ? values.data<std::string>() : nullptr;
  column.ints = strings ? nullptr : values.data<int64_t>();
}

void CrossColumnSet::SetBatch(int64_t batch, const char* kind, int position) {
  if (batch_ >= 0 && batch != batch_) {
    throw InvalidArgument("expected batch size {}, got {} in {} column {}", batch_, batch, kind,
                          position);
  }
  batch_ = batch;
}

int64_t CrossColumnSet::Combinations(int64_t row) const {
  int64_t product = columns_.empty() ? 0 : 1;
  for (const Column& column : columns_) {
    if (__builtin_mul_overflow(product, column.count(row), &product)) {
      throw InvalidArgument("row {} has more combinations than int64 holds", row);
    }
  }
  return product;
}

void CrossColumnSet::Count() {
  if (one_per_row_) {
    total_ = batch_;
    widest_ = std::min<int64_t>(batch_, 1);
    return;
  }
  total_ = widest_ = 0;
  for (int64_t row = 0; row < batch_; ++row) {
    const int64_t combinations = Combinations(row);
    if (__builtin_add_overflow(total_, combinations, &total_)) {
      throw InvalidArgument("there are more combinations than int64 holds");
    }
    widest_ = std::max(widest_, combinations);
  }
}

void CrossColumnSet::ForEach(FunctionRef<void(int64_t, int64_t, const int64_t*)> visit) {
  for (int64_t row = 0; row < batch_; ++row) {
    const int64_t combinations = Combinations(row);
    for (size_t c = 0; c < columns_.size(); ++c) features_[c] = columns_[c].begin(row);
    for (int64_t k = 0; k < combinations; ++k) {
      visit(row, k, features_.data());
      for (size_t c = columns_.size(); c-- > 0;) {
        const Column& column = columns_[c];
        if (++features_[c] < column.begin(row) + column.count(row)) break;
        features_[c] = column.begin(row);
      }
    }
  }
}

void CrossColumnSet::AppendText(int column, int64_t feature, std::string* text) const {
  if (is_string(column)) {
    *text += String(column, feature);
  } else {
    *text += std::to_string(Int(column, feature));
  }
}

}  // namespace sextant

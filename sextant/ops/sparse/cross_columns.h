// The columns of a cross and the iteration over their combinations, for its kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/function_ref.h"
#include "sextant/device/kernel.h"

namespace sextant {

class CrossColumnSet {
 public:
  // Takes the columns from inputs [0, 3 * num_sparse + num_dense) as the ops order them. Throws
  // INVALID_ARGUMENT on shapes or batch sizes that do not fit. The views are valid as long as the
  // inputs are.
  void Set(KernelContext& ctx, int num_sparse, int num_dense);

  int size() const { return static_cast<int>(columns_.size()); }
  int64_t batch() const { return batch_; }
  // Combinations in all, and the most that a row has. Throws INVALID_ARGUMENT when they cannot be
  // counted.
  int64_t total() const { return total_; }
  int64_t widest() const { return widest_; }
  // Whether there is a column and feature r of each is the only one of row r.
  bool one_per_row() const { return one_per_row_; }

  // Calls visit(row, number within the row, features) for all combinations: by rows, the last
  // column varying fastest. features[c] is to be given to the functions below.
  void ForEach(FunctionRef<void(int64_t row, int64_t k, const int64_t* features)> visit);

  bool is_string(int column) const { return columns_[column].strings != nullptr; }
  const std::string& String(int column, int64_t feature) const {
    return columns_[column].strings[feature];
  }
  int64_t Int(int column, int64_t feature) const { return columns_[column].ints[feature]; }
  // The feature, integers in decimal.
  void AppendText(int column, int64_t feature, std::string* text) const;

 private:
  struct Column {
    const std::string* strings = nullptr;
    const int64_t* ints = nullptr;
    // Features of row r: [starts[r], starts[r + 1]), or as many per row as "width" says.
    std::vector<int64_t> starts;
    int64_t width = -1;

    int64_t begin(int64_t row) const { return width >= 0 ? row * width : starts[row]; }
    int64_t count(int64_t row) const { return width >= 0 ? width : starts[row + 1] - starts[row]; }
  };

  void CheckBatch(KernelContext& ctx, int num_sparse, int num_dense);
  void SetSparse(const Tensor& indices, const Tensor& values, int position, Column& column);
  void SetValues(const Tensor& values, Column& column) const;
  void SetBatch(int64_t batch, const char* kind, int position);
  void Count();
  int64_t Combinations(int64_t row) const;

  std::vector<Column> columns_;
  int64_t batch_ = -1, total_ = 0, widest_ = 0;
  bool one_per_row_ = false;
  std::vector<int64_t> features_;
};

}  // namespace sextant

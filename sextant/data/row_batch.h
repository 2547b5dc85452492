// RowBatch: the buffers of one batch, filled row by row, by one thread (Append) or by several at
// once, each its own rows (Make, Reject, Prepare and rows' data).
//
// The first row determines the fields: names, types and shapes of one row. Append allocates memory
// as rows come, the other functions for all rows at once. A parser that knows the fields calls
// Prepare and writes rows to row_data, without an element per row:
//
//   batch.Prepare(fields);                        // names, types, shapes of one row
//   float* row = batch.row_data<float>(0, i);     // field 0 of row i
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/base/function_ref.h"
#include "sextant/data/element.h"

namespace sextant::data {

struct RowField {
  std::string name;
  DType dtype = DType::kInvalid;
  Shape shape;  // of one row
};

// The fields of elements that all have the same types and shapes. Types are plain or strings.
struct RowFormat {
  std::vector<RowField> fields;
  bool origins = false;  // whether rows have a PendingElement::origin
};

class RowBatch {
 public:
  // Memory for larger batches is allocated as rows come.
  static constexpr int64_t kMostRowsAtOnce = 1 << 20;

  // A row that is not in the batch: it failed, or its types or shapes are not those of the batch.
  struct Rejected {
    int64_t row;
    std::exception_ptr failure;
    Element element;  // when there is no failure
  };

  // Starts an empty batch of at most `capacity` rows. Buffers of `recycled` that fit, and that
  // nobody else holds, are reused. REQUIRES: no other thread uses the batch.
  void Reset(int64_t capacity, Element recycled);
  // The same in the buffers of this batch, which may be larger. REQUIRES: Take was not called.
  void Restart(int64_t capacity);

  int64_t capacity() const { return capacity_; }
  // Rows appended so far; threads that Make rows have their own counts.
  int64_t rows() const { return rows_; }
  bool full() const { return rows_ == capacity_; }

  // Sets the fields, if they are not set yet, and allocates all rows. Returns whether the fields
  // are these. False too when all rows are more than a batch may have (batch_limit.h).
  bool Prepare(const std::vector<RowField>& fields);
  // REQUIRES: Prepare returned true; T is the field's type.
  template <typename T>
  T* row_data(int field, int64_t row) {
    return batch_.fields()[field].second.data<T>() + row * row_elements_[field];
  }
  void* raw_row(int field, int64_t row) {
    return static_cast<char*>(batch_.fields()[field].second.raw_data()) + row * row_bytes_[field];
  }
  // Counts rows that were written through row_data by the thread that appends.
  void AddRows(int64_t count) { rows_ += count; }

  // Whether the thread that appends rows also sets their origins (PendingElement::origin).
  void set_keeps_origins(bool keeps) { keeps_origins_ = keeps; }
  bool keeps_origins() const { return keeps_origins_; }
  std::string& origin(int64_t row) {
    if (row >= static_cast<int64_t>(origins_.size())) origins_.resize(row + 1);
    return origins_[row];
  }

  // Calls `make` and copies *element to the row. Rejects the row if `make` throws, or if the
  // element does not have the fields of the batch.
  void Make(int64_t row, FunctionRef<void(Element* element)> make);
  // A view of field `name` of the row, for an element that Make puts there: it is not copied then.
  // Not valid unless the fields are set and this one has that type, a plain one, and that shape.
  Tensor ViewOfRow(int64_t row, std::string_view name, DType dtype, const Shape& shape);
  // REQUIRES: ReserveRejected; no row is rejected twice.
  void Reject(int64_t row, std::exception_ptr failure) noexcept;
  void Reject(int64_t row, Element unlike) noexcept;
  // Rejects those of rows [first, first + count) that are not rejected yet.
  void RejectRest(int64_t first, int64_t count, const std::exception_ptr& failure) noexcept;
  // Allocates what Reject needs for all rows, so that it works when memory is exhausted.
  void ReserveRejected() { rejected_.reserve(static_cast<size_t>(capacity_)); }
  // Adds a row at the end. Throws INVALID_ARGUMENT, naming both, when the element does not have the
  // fields of the batch.
  void Append(Element* element);
  // Allocates all rows, so that threads can Make those behind the ones appended.
  void Reserve();

  // An element for the appending thread to make the next row in.
  Element* scratch() { return &scratch_; }

  // The rejected rows, sorted. REQUIRES, as the functions below: no other thread uses the batch.
  std::span<Rejected> rejected();
  bool has_rejected() const { return !rejected_.empty(); }
  // A copy of one row as an element.
  Element Row(int64_t row) const;
  // Rows [0, rows) of every field.
  Element Take(int64_t rows);

 private:
  bool Fits(const Element& element) const;
  void Fix(const Element& element);
  std::string Difference(const Element& element) const;
  void SetFields(std::vector<RowField> fields);
  int64_t BytesOfRow() const;
  // The most rows that a batch may have (batch_limit.h).
  int64_t MostRows() const;
  // Allocates that many rows and keeps those there are. Throws RESOURCE_EXHAUSTED when they are too
  // many.
  void Allocate(int64_t rows);
  void CopyRow(int64_t row, Element* element);
  // Copies the element to the row; strings are moved. Returns false, and leaves *element as it was,
  // when it does not have the fields of the batch.
  bool Put(int64_t row, Element* element);

  int64_t capacity_ = 0;
  int64_t rows_ = 0;
  std::mutex mutex_;  // for setting the fields, and for rejected_
  std::atomic<bool> fixed_{false};
  std::vector<RowField> row_fields_;
  std::vector<int64_t> row_elements_, row_bytes_;
  int64_t allocated_ = 0;  // rows of the tensors
  Element batch_;
  Element scratch_;
  bool keeps_origins_ = false;
  std::vector<std::string> origins_;
  std::vector<Rejected> rejected_;
};

}  // namespace sextant::data

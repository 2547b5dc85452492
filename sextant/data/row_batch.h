// RowBatch: the buffers of one batch, filled row by row, by one thread (Append) or by several at
// once, each its own rows (Make, Reject, Prepare and rows' data).
//
// The first row fixes the fields: names, types and shapes of one row. Appending makes room as it is
// needed, the other ways for all rows at once. A parser that knows them
// calls Prepare and writes rows where row_data points, without an element per row:
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

// Of elements that are all alike, of types that are plain or strings.
struct RowFormat {
  std::vector<RowField> fields;
  bool origins = false;  // whether rows have a PendingElement::origin
};

class RowBatch {
 public:
  // Room for the rows of a larger batch is made as they come.
  static constexpr int64_t kMostRowsAtOnce = 1 << 20;

  // A row that did not become one: an error, or an element unlike the first row.
  struct Rejected {
    int64_t row;
    std::exception_ptr failure;
    Element element;  // when there is no failure
  };

  // Starts an empty batch of at most `capacity` rows in the buffers of `recycled`, as far as they
  // fit and nobody else holds them. REQUIRES: no other thread uses it.
  void Reset(int64_t capacity, Element recycled);
  // The same in the buffers that it has, also where these have room for more.
  // REQUIRES: nobody took them.
  void Restart(int64_t capacity);

  int64_t capacity() const { return capacity_; }
  // Rows appended so far; threads that Make rows have their own counts.
  int64_t rows() const { return rows_; }
  bool full() const { return rows_ == capacity_; }

  // Fixes the fields if none were, with room for all rows; returns whether they are these.
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

  // Whether whoever appends rows gives their origins too (PendingElement::origin).
  void set_keeps_origins(bool keeps) { keeps_origins_ = keeps; }
  bool keeps_origins() const { return keeps_origins_; }
  std::string& origin(int64_t row) {
    if (row >= static_cast<int64_t>(origins_.size())) origins_.resize(row + 1);
    return origins_[row];
  }

  // Puts what `make` makes of *element in the row, or rejects what it throws, or an element unlike
  // the rows before.
  void Make(int64_t row, FunctionRef<void(Element* element)> make);
  // Field `name` of the row, for an element that will be put there: not copied then. Not valid
  // unless the fields are fixed and this one is of that type, a plain one, and shape.
  Tensor ViewOfRow(int64_t row, std::string_view name, DType dtype, const Shape& shape);
  // REQUIRES: ReserveRejected; no row is rejected twice.
  void Reject(int64_t row, std::exception_ptr failure) noexcept;
  void Reject(int64_t row, Element unlike) noexcept;
  // Those of rows [first, first + count) that are not rejected yet.
  void RejectRest(int64_t first, int64_t count, const std::exception_ptr& failure) noexcept;
  // Makes room for all rows to be rejected, so that this needs no memory when there is none left.
  void ReserveRejected() { rejected_.reserve(static_cast<size_t>(capacity_)); }
  // Put at the end. Throws INVALID_ARGUMENT, naming both, when the element is unlike the rows
  // before.
  void Append(Element* element);
  // Makes room for all rows, so that threads can put those behind the ones appended.
  void Reserve();

  // An element for the appending thread to make the next row in.
  Element* scratch() { return &scratch_; }

  // In order of their rows. REQUIRES, as those below: no other thread uses it.
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
  // Makes room for that many rows.
  void Allocate(int64_t rows);
  void CopyRow(int64_t row, Element* element);
  // Copies the element to the row; strings are moved. Returns false, and leaves *element as it was,
  // when it is unlike the rows before.
  bool Put(int64_t row, Element* element);

  int64_t capacity_ = 0;
  int64_t rows_ = 0;
  std::mutex mutex_;  // of fixing the fields, and of rejected_
  std::atomic<bool> fixed_{false};
  std::vector<RowField> row_fields_;
  std::vector<int64_t> row_elements_, row_bytes_;
  int64_t allocated_ = 0;  // rows that the tensors have room for
  Element batch_;
  Element scratch_;
  bool keeps_origins_ = false;
  std::vector<std::string> origins_;
  std::vector<Rejected> rejected_;
};

}  // namespace sextant::data

// TableRows: keys (int32, int64 or string) with rows of values, in the order of insertion.
// Not synchronised.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "sextant/ops/lookup/key_index.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class TableRows {
 public:
  // "width" elements of "value_dtype" per key. Throws UNIMPLEMENTED on other types of keys.
  TableRows(DType key_dtype, DType value_dtype, int64_t width);

  int64_t size() const;
  // Row i of "values" becomes the row of keys[i]; failing that the only or the i-th row of
  // "defaults".
  void Find(const Tensor& keys, const Tensor& defaults, Tensor& values) const;
  void Put(const Tensor& keys, const Tensor& values);
  // As Put, but a key that is there must have the same value: throws FAILED_PRECONDITION.
  void PutNew(const Tensor& keys, const Tensor& values);
  void Remove(const Tensor& keys);

  Tensor Keys() const;
  Tensor Values(const Shape& value_shape) const;
  bool SameAs(const TableRows& other) const;

 private:
  // f(index, key, i) for each key.
  template <typename Self, typename F>
  static void ForEachKey(Self& self, const Tensor& keys, F&& f);
  // rows[i] = the row of keys[begin + i], -1 for one that is not there.
  void FindRows(const Tensor& keys, int64_t begin, int64_t count, int64_t* rows) const;
  void ReserveRow();
  bool EqualRows(int64_t row, const Tensor& values, int64_t other_row) const;

  DType key_dtype_;
  int64_t width_;
  std::variant<KeyIndex<int64_t>, KeyIndex<std::string>> index_;
  Tensor values_;  // [capacity, width]
};

}  // namespace sextant

#include "sextant/ops/lookup/lookup_table.h"

#include <algorithm>

#include "sextant/ops/array/element_type.h"

namespace sextant {

void LookupTable::Initialize(const Tensor&, const Tensor&) {
  throw InvalidArgument("a mutable table is not initializable");
}

void LookupTable::CheckTypes(const Tensor& keys, const Tensor& values) const {
  if (keys.dtype() == key_dtype_ && values.dtype() == value_dtype_) return;
  throw InvalidArgument("keys of {} and values of {} do not fit a table from {} to {}",
                        DTypeName(keys.dtype()), DTypeName(values.dtype()), DTypeName(key_dtype_),
                        DTypeName(value_dtype_));
}

void LookupTable::CheckKeys(const Tensor& keys) const {
  if (keys.dtype() == key_dtype_) return;
  throw InvalidArgument("keys of {} do not fit a table from {} to {}", DTypeName(keys.dtype()),
                        DTypeName(key_dtype_), DTypeName(value_dtype_));
}

Shape LookupTable::ValuesShape(const Tensor& keys) const {
  const int batch = keys.rank() - key_shape_.rank();
  bool fits = batch >= 0;
  for (int d = 0; fits && d < key_shape_.rank(); ++d) {
    fits = keys.dim(batch + d) == key_shape_.dim(d);
  }
  if (!fits) {
    throw InvalidArgument("Input key shape {} must end with the table's key shape {}",
                          keys.shape().ToString(), key_shape_.ToString());
  }
  Shape shape(keys.shape().dims().first(static_cast<size_t>(batch)));
  for (const int64_t size : value_shape_.dims()) shape.Append(size);
  return shape;
}

void LookupTable::CheckKeysAndValues(const Tensor& keys, const Tensor& values) const {
  CheckTypes(keys, values);
  const Shape expected = ValuesShape(keys);
  if (values.shape() == expected) return;
  throw InvalidArgument("Expected shape {} for value, got {}", expected.ToString(),
                        values.shape().ToString());
}

void CopyElements(const Tensor& src, int64_t src_begin, int64_t count, Tensor& dst,
                  int64_t dst_begin) {
  WithElement(dst.dtype(), [&]<typename T>() {
    std::copy_n(static_cast<const T*>(src.raw_data()) + src_begin, count,
                static_cast<T*>(dst.raw_data()) + dst_begin);
  });
}

}  // namespace sextant

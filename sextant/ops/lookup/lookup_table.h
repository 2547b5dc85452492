// LookupTable: the resource behind table handles; a map from keys to values, both tensors'
// elements. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "sextant/tensor/handle.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class LookupTable : public Resource {
 public:
  static constexpr const char* kTypeName = "LookupTable";

  LookupTable(DType key_dtype, DType value_dtype, Shape key_shape, Shape value_shape)
      : key_dtype_(key_dtype),
        value_dtype_(value_dtype),
        key_shape_(std::move(key_shape)),
        value_shape_(std::move(value_shape)) {}

  DType key_dtype() const { return key_dtype_; }
  DType value_dtype() const { return value_dtype_; }
  const Shape& key_shape() const { return key_shape_; }      // of one key
  const Shape& value_shape() const { return value_shape_; }  // of one value

  virtual int64_t size() const = 0;
  // values[i] = value of keys[i], or defaults: one value for all, or one for each key.
  // REQUIRES: "values" has the shape ValuesShape(keys) and the defaults that or value_shape().
  virtual void Find(const Tensor& keys, const Tensor& defaults, Tensor& values) const = 0;
  // Adds or replaces. Throws UNIMPLEMENTED on tables that are initialised instead.
  virtual void Insert(const Tensor& keys, const Tensor& values) = 0;
  // Keys that are not there are ignored. Throws UNIMPLEMENTED as Insert.
  virtual void Remove(const Tensor& keys) = 0;
  // Replaces the content by what Export gave.
  virtual void Import(const Tensor& keys, const Tensor& values) = 0;
  virtual std::pair<Tensor, Tensor> Export() const = 0;
  // Fills the table for good. The same content again is fine, another throws FAILED_PRECONDITION.
  // Throws INVALID_ARGUMENT on tables that are not of this kind.
  virtual void Initialize(const Tensor& keys, const Tensor& values);

  // The shape of the values of these keys. Throws INVALID_ARGUMENT when the last dimensions of
  // "keys" are not those of a key.
  Shape ValuesShape(const Tensor& keys) const;
  // Throw INVALID_ARGUMENT on other element types or shapes than the table's.
  void CheckKeys(const Tensor& keys) const;
  void CheckKeysAndValues(const Tensor& keys, const Tensor& values) const;

  std::string DebugString() const override { return "lookup table"; }

 protected:
  void CheckTypes(const Tensor& keys, const Tensor& values) const;

 private:
  const DType key_dtype_, value_dtype_;
  const Shape key_shape_, value_shape_;
};

// Copies "count" elements of any type between tensors of one type.
void CopyElements(const Tensor& src, int64_t src_begin, int64_t count, Tensor& dst,
                  int64_t dst_begin);

// Filled once by Initialize (or Import).
std::shared_ptr<LookupTable> MakeHashTable(DType key_dtype, DType value_dtype);
// Changed by Insert, Remove and Import.
std::shared_ptr<LookupTable> MakeMutableHashTable(DType key_dtype, DType value_dtype,
                                                  const Shape& value_shape);

struct DenseHashTableOptions {
  DType value_dtype = DType::kInvalid;
  Shape value_shape;
  int64_t initial_num_buckets = 131072;
  float max_load_factor = 0.8f;
};
// Open addressing in two tensors, which Export gives as they are: buckets without an entry hold
// "empty_key" or "deleted_key", which are no keys. Throws INVALID_ARGUMENT on bad options.
std::shared_ptr<LookupTable> MakeDenseHashTable(const Tensor& empty_key, const Tensor& deleted_key,
                                                const DenseHashTableOptions& options);

}  // namespace sextant

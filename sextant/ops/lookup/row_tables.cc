// The tables that are initialised once and those that change, both with TableRows behind a lock.
#include <mutex>
#include <optional>
#include <shared_mutex>

#include "sextant/base/error.h"
#include "sextant/ops/lookup/lookup_table.h"
#include "sextant/ops/lookup/table_rows.h"

namespace sextant {
namespace {

class HashTable : public LookupTable {
 public:
  HashTable(DType key_dtype, DType value_dtype)
      : LookupTable(key_dtype, value_dtype, Shape(), Shape()) {}

  int64_t size() const override {
    const std::shared_lock lock(mutex_);
    return rows_ ? rows_->size() : 0;
  }

  void Find(const Tensor& keys, const Tensor& defaults, Tensor& values) const override {
    const std::shared_lock lock(mutex_);
    if (!rows_) throw FailedPrecondition("Table not initialized.");
    rows_->Find(keys, defaults, values);
  }

  void Insert(const Tensor&, const Tensor&) override { ThrowFixed("Insert"); }
  void Remove(const Tensor&) override { ThrowFixed("Remove"); }
  void Import(const Tensor& keys, const Tensor& values) override { Initialize(keys, values); }

  std::pair<Tensor, Tensor> Export() const override {
    const std::shared_lock lock(mutex_);
    if (!rows_) throw Error(Code::kAborted, "HashTable is not initialized.");
    return {rows_->Keys(), rows_->Values(Shape())};
  }

  void Initialize(const Tensor& keys, const Tensor& values) override {
    CheckTypes(keys, values);
    if (keys.rank() != 1) {
      throw InvalidArgument("Keys must be a vector, but received shape {}",
                            keys.shape().ToString());
    }
    if (keys.num_elements() != values.num_elements()) {
      throw InvalidArgument("Keys and values must have the same size {} vs {}", keys.num_elements(),
                            values.num_elements());
    }
    if (keys.num_elements() == 0) throw InvalidArgument("keys and values are empty");
    TableRows rows(key_dtype(), value_dtype(), 1);
    rows.PutNew(keys, values);
    const std::unique_lock lock(mutex_);
    if (!rows_) {
      rows_.emplace(std::move(rows));
    } else if (!rows.SameAs(*rows_)) {
      throw FailedPrecondition(
          "Table was already initialized with different data ({} entries, now {}).", rows_->size(),
          rows.size());
    }
  }

 private:
  [[noreturn]] static void ThrowFixed(const char* what) {
    throw Unimplemented("{} is not supported by tables that are initialized", what);
  }

  mutable std::shared_mutex mutex_;
  std::optional<TableRows> rows_;
};

class MutableHashTable : public LookupTable {
 public:
  MutableHashTable(DType key_dtype, DType value_dtype, const Shape& value_shape)
      : LookupTable(key_dtype, value_dtype, Shape(), value_shape),
        rows_(key_dtype, value_dtype, value_shape.num_elements()) {}

  int64_t size() const override {
    const std::shared_lock lock(mutex_);
    return rows_.size();
  }

  void Find(const Tensor& keys, const Tensor& defaults, Tensor& values) const override {
    const std::shared_lock lock(mutex_);
    rows_.Find(keys, defaults, values);
  }

  void Insert(const Tensor& keys, const Tensor& values) override {
    const std::unique_lock lock(mutex_);
    rows_.Put(keys, values);
  }

  void Remove(const Tensor& keys) override {
    const std::unique_lock lock(mutex_);
    rows_.Remove(keys);
  }

  void Import(const Tensor& keys, const Tensor& values) override {
    CheckKeysAndValues(keys, values);
    TableRows rows(key_dtype(), value_dtype(), value_shape().num_elements());
    rows.Put(keys, values);
    const std::unique_lock lock(mutex_);
    std::swap(rows_, rows);
  }

  std::pair<Tensor, Tensor> Export() const override {
    const std::shared_lock lock(mutex_);
    return {rows_.Keys(), rows_.Values(value_shape())};
  }

 private:
  mutable std::shared_mutex mutex_;
  TableRows rows_;
};

}  // namespace

std::shared_ptr<LookupTable> MakeHashTable(DType key_dtype, DType value_dtype) {
  return std::make_shared<HashTable>(key_dtype, value_dtype);
}

std::shared_ptr<LookupTable> MakeMutableHashTable(DType key_dtype, DType value_dtype,
                                                  const Shape& value_shape) {
  return std::make_shared<MutableHashTable>(key_dtype, value_dtype, value_shape);
}

}  // namespace sextant

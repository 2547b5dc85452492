// Open addressing with quadratic probing, laid out as TensorFlow does: exported buckets are read by
// either.
#include <algorithm>
#include <mutex>
#include <shared_mutex>

#include "sextant/base/error.h"
#include "sextant/base/hash64.h"
#include "sextant/ops/lookup/lookup_table.h"

namespace sextant {
namespace {

uint64_t HashOf(int64_t key) { return static_cast<uint64_t>(key); }
uint64_t HashOf(const std::string& key) { return Hash64(key); }

template <typename K>
class DenseHashTable : public LookupTable {
 public:
  DenseHashTable(const Tensor& empty_key, const Tensor& deleted_key,
                 const DenseHashTableOptions& options)
      : LookupTable(empty_key.dtype(), options.value_dtype, empty_key.shape(), options.value_shape),
        key_width_(empty_key.num_elements()),
        value_width_(options.value_shape.num_elements()),
        max_load_factor_(options.max_load_factor),
        empty_(empty_key.Clone()),
        deleted_(deleted_key.Clone()) {
    Allocate(options.initial_num_buckets);
  }

  int64_t size() const override {
    const std::shared_lock lock(mutex_);
    return size_;
  }

  void Find(const Tensor& keys, const Tensor& defaults, Tensor& values) const override {
    const int64_t count = CountKeys(keys);
    const bool one_default = defaults.num_elements() == value_width_;
    const std::shared_lock lock(mutex_);
    for (int64_t i = 0; i < count; ++i) {
      const K* const key = keys.data<K>() + i * key_width_;
      CheckIsKey(key);
      const int64_t bucket = FindBucket(key);
      if (bucket >= 0) {
        CopyElements(value_buckets_, bucket * value_width_, value_width_, values, i * value_width_);
      } else {
        CopyElements(defaults, one_default ? 0 : i * value_width_, value_width_, values,
                     i * value_width_);
      }
    }
  }

  void Insert(const Tensor& keys, const Tensor& values) override {
    const int64_t count = CountKeys(keys);
    const std::unique_lock lock(mutex_);
    for (int64_t i = 0; i < count; ++i) CheckIsKey(keys.data<K>() + i * key_width_);
    int64_t buckets = num_buckets();
    while (static_cast<double>(size_ + count) >
           static_cast<double>(buckets) * static_cast<double>(max_load_factor_)) {
      buckets *= 2;
    }
    if (buckets > num_buckets()) Rebucket(buckets);
    for (int64_t i = 0; i < count; ++i) Put(keys.data<K>() + i * key_width_, values, i);
  }

  void Remove(const Tensor& keys) override {
    const int64_t count = CountKeys(keys);
    const std::unique_lock lock(mutex_);
    for (int64_t i = 0; i < count; ++i) {
      const K* const key = keys.data<K>() + i * key_width_;
      CheckIsKey(key);
      const int64_t bucket = FindBucket(key);
      if (bucket < 0) continue;
      CopyElements(deleted_, 0, key_width_, key_buckets_, bucket * key_width_);
      --size_;
    }
  }

  void Import(const Tensor& keys, const Tensor& values) override {
    CheckTypes(keys, values);
    const int64_t buckets = keys.num_elements() / key_width_;
    if (keys.num_elements() != buckets * key_width_ ||
        values.num_elements() != buckets * value_width_ || buckets < 1 ||
        (buckets & (buckets - 1)) != 0) {
      throw InvalidArgument(
          "keys {} and values {} are not the buckets of a table with keys {} and "
          "values {}, a power of two of them",
          keys.shape().ToString(), values.shape().ToString(), key_shape().ToString(),
          value_shape().ToString());
    }
    const std::unique_lock lock(mutex_);
    Allocate(buckets);
    CopyElements(keys, 0, buckets * key_width_, key_buckets_, 0);
    CopyElements(values, 0, buckets * value_width_, value_buckets_, 0);
    for (int64_t b = 0; b < buckets; ++b) size_ += !IsFree(b);
  }

  std::pair<Tensor, Tensor> Export() const override {
    const std::shared_lock lock(mutex_);
    return {key_buckets_.Clone(), value_buckets_.Clone()};
  }

 private:
  int64_t num_buckets() const { return key_buckets_.dim(0); }

  void Allocate(int64_t buckets) {
    const auto bucket_shape = [&](const Shape& shape) {
      Shape result{buckets};
      if (shape.rank() == 0) result.Append(1);
      for (const int64_t size : shape.dims()) result.Append(size);
      return result;
    };
    key_buckets_ = Tensor(key_dtype(), bucket_shape(key_shape()));
    for (int64_t b = 0; b < buckets; ++b) {
      CopyElements(empty_, 0, key_width_, key_buckets_, b * key_width_);
    }
    value_buckets_ = Tensor::Zeros(value_dtype(), bucket_shape(value_shape()));
    size_ = 0;
  }

  // A batch of keys has one dimension more than a key; a single key of scalar shape is a batch too.
  int64_t CountKeys(const Tensor& keys) const {
    const int64_t count = keys.rank() == 0 ? 1 : keys.dim(0);
    if (keys.num_elements() != count * key_width_) {
      throw InvalidArgument("Expected a batch of keys of shape {}, got {}", key_shape().ToString(),
                            keys.shape().ToString());
    }
    return count;
  }

  bool Equals(const K* a, const K* b) const { return std::equal(a, a + key_width_, b); }
  const K* KeyAt(int64_t bucket) const { return key_buckets_.data<K>() + bucket * key_width_; }
  bool IsEmpty(int64_t bucket) const { return Equals(KeyAt(bucket), empty_.data<K>()); }
  bool IsFree(int64_t bucket) const {
    return IsEmpty(bucket) || Equals(KeyAt(bucket), deleted_.data<K>());
  }

  void CheckIsKey(const K* key) const {
    if (Equals(key, empty_.data<K>())) {
      throw InvalidArgument("Using the empty_key as a table key is not allowed");
    }
    if (Equals(key, deleted_.data<K>())) {
      throw InvalidArgument("Using the deleted_key as a table key is not allowed");
    }
  }

  int64_t FirstBucket(const K* key) const {
    uint64_t hash = 0;
    if (key_width_ == 1) {
      hash = HashOf(*key);
    } else {
      for (int64_t i = 0; i < key_width_; ++i) hash = Hash64Combine(hash, HashOf(key[i]));
    }
    return static_cast<int64_t>(hash & static_cast<uint64_t>(num_buckets() - 1));
  }

  // -1 when the key is not there.
  int64_t FindBucket(const K* key) const {
    int64_t bucket = FirstBucket(key);
    for (int64_t probes = 1; probes <= num_buckets(); ++probes) {
      if (Equals(KeyAt(bucket), key)) return bucket;
      if (IsEmpty(bucket)) return -1;
      bucket = (bucket + probes) & (num_buckets() - 1);
    }
    return -1;
  }

  void Put(const K* key, const Tensor& values, int64_t row) {
    int64_t bucket = FindBucket(key);
    if (bucket < 0) {
      bucket = FirstBucket(key);
      for (int64_t probes = 1; !IsFree(bucket); ++probes) {
        bucket = (bucket + probes) & (num_buckets() - 1);
      }
      std::copy_n(key, key_width_, key_buckets_.data<K>() + bucket * key_width_);
      ++size_;
    }
    CopyElements(values, row * value_width_, value_width_, value_buckets_, bucket * value_width_);
  }

  void Rebucket(int64_t buckets) {
    const Tensor keys = key_buckets_, values = value_buckets_;
    Allocate(buckets);
    for (int64_t b = 0; b < keys.dim(0); ++b) {
      const K* const key = keys.data<K>() + b * key_width_;
      if (Equals(key, empty_.data<K>()) || Equals(key, deleted_.data<K>())) continue;
      Put(key, values, b);
    }
  }

  const int64_t key_width_, value_width_;
  const float max_load_factor_;
  const Tensor empty_, deleted_;
  mutable std::shared_mutex mutex_;
  Tensor key_buckets_, value_buckets_;
  int64_t size_ = 0;
};

}  // namespace

std::shared_ptr<LookupTable> MakeDenseHashTable(const Tensor& empty_key, const Tensor& deleted_key,
                                                const DenseHashTableOptions& options) {
  const int64_t buckets = options.initial_num_buckets;
  if (buckets < 4 || (buckets & (buckets - 1)) != 0) {
    throw InvalidArgument("Number of buckets must be at least 4 and a power of 2, got: {}",
                          buckets);
  }
  if (!(options.max_load_factor > 0 && options.max_load_factor < 1)) {
    throw InvalidArgument("max_load_factor must be between 0 and 1, got: {}",
                          options.max_load_factor);
  }
  if (empty_key.rank() > 1 || options.value_shape.rank() > 1) {
    throw InvalidArgument("keys and values must be scalars or vectors, got shapes {} and {}",
                          empty_key.shape().ToString(), options.value_shape.ToString());
  }
  if (!(empty_key.shape() == deleted_key.shape())) {
    throw InvalidArgument("Empty and deleted keys must have same shape, got shapes: {} and {}",
                          empty_key.shape().ToString(), deleted_key.shape().ToString());
  }
  if (empty_key.num_elements() == 0) throw InvalidArgument("the empty key has no elements");
  if (empty_key.Identical(deleted_key)) {
    throw InvalidArgument("Empty and deleted keys cannot be equal");
  }
  switch (empty_key.dtype()) {
    case DType::kInt32:
      return std::make_shared<DenseHashTable<int32_t>>(empty_key, deleted_key, options);
    case DType::kInt64:
      return std::make_shared<DenseHashTable<int64_t>>(empty_key, deleted_key, options);
    case DType::kString:
      return std::make_shared<DenseHashTable<std::string>>(empty_key, deleted_key, options);
    default:
      throw Unimplemented("tables with keys of {}", DTypeName(empty_key.dtype()));
  }
}

}  // namespace sextant

#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/coding.h"
#include "sextant/base/fingerprint.h"
#include "sextant/base/sip_hash.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/sparse/cross_columns.h"

namespace sextant {
namespace {

class CrossKernel : public Kernel {
 public:
  explicit CrossKernel(KernelInit& init)
      : num_sparse_(static_cast<int>(init.attr<int64_t>("N"))),
        num_dense_(static_cast<int>(init.attr<std::vector<DType>>("dense_types").size())) {
    const size_t num_types = init.attr<std::vector<DType>>("sparse_types").size();
    if (num_types != static_cast<size_t>(num_sparse_)) {
      throw InvalidArgument("there are {} sparse columns, but {} sparse_types", num_sparse_,
                            num_types);
    }
  }

 protected:
  // The op's own inputs come after the columns.
  const Tensor& extra_input(KernelContext& ctx, int i) const {
    return ctx.input(3 * num_sparse_ + num_dense_ + i);
  }

  struct Entries {
    int64_t* indices;
    Tensor& values;
  };

  // Emits the shape; the entries are to be filled.
  Entries SetColumns(KernelContext& ctx) {
    columns_.Set(ctx, num_sparse_, num_dense_);
    int64_t* const shape = ctx.AllocateOutput(2, {2}).data<int64_t>();
    shape[0] = columns_.batch();
    shape[1] = columns_.widest();
    int64_t* const indices = ctx.AllocateOutput(0, {columns_.total(), 2}).data<int64_t>();
    return {indices, ctx.AllocateOutput(1, {columns_.total()})};
  }

  // Emits indices; write(values, n, features) makes the value of combination n.
  template <typename Write>
  void Cross(const Entries& entries, Write write) {
    int64_t n = 0;
    columns_.ForEach([&](int64_t row, int64_t k, const int64_t* features) {
      entries.indices[2 * n] = row;
      entries.indices[2 * n + 1] = k;
      write(entries.values, n++, features);
    });
  }

  // Chains hash(column, feature) of all columns, from "key" on if there is one.
  template <typename Hash>
  void CrossHashes(KernelContext& ctx, const uint64_t* key, int64_t num_buckets, Hash hash) {
    const uint64_t buckets =
        num_buckets > 0 ? static_cast<uint64_t>(num_buckets) : std::numeric_limits<int64_t>::max();
    const Entries entries = SetColumns(ctx);
    if (columns_.one_per_row()) return CrossRows(entries, key, buckets, hash);
    Cross(entries, [&](Tensor& values, int64_t n, const int64_t* features) {
      uint64_t chain = key != nullptr ? *key : 0;
      for (int c = 0; c < columns_.size(); ++c) {
        const uint64_t next = hash(c, features[c]);
        chain = c == 0 && key == nullptr ? next : FingerprintCat64(chain, next);
      }
      values.data<int64_t>()[n] = static_cast<int64_t>(chain % buckets);
    });
  }

  // The same for one combination per row: column by column, so that the hashes of several rows are
  // made at a time.
  template <typename Hash>
  void CrossRows(const Entries& entries, const uint64_t* key, uint64_t buckets, Hash hash) {
    int64_t* const indices = entries.indices;
    int64_t* const values = entries.values.data<int64_t>();
    for (int64_t row = 0; row < columns_.batch(); ++row) {
      const uint64_t first = hash(0, row);
      values[row] = static_cast<int64_t>(key != nullptr ? FingerprintCat64(*key, first) : first);
    }
    for (int c = 1; c < columns_.size(); ++c) {
      for (int64_t row = 0; row < columns_.batch(); ++row) {
        const auto chain = static_cast<uint64_t>(values[row]);
        values[row] = static_cast<int64_t>(FingerprintCat64(chain, hash(c, row)));
      }
    }
    for (int64_t row = 0; row < columns_.batch(); ++row) {
      values[row] = static_cast<int64_t>(static_cast<uint64_t>(values[row]) % buckets);
      indices[2 * row] = row;
      indices[2 * row + 1] = 0;
    }
  }

  void CrossTexts(KernelContext& ctx, std::string_view separator) {
    Cross(SetColumns(ctx), [&](Tensor& values, int64_t n, const int64_t* features) {
      std::string& text = values.data<std::string>()[n];
      text.clear();
      for (int c = 0; c < columns_.size(); ++c) {
        if (c > 0) text += separator;
        columns_.AppendText(c, features[c], &text);
      }
    });
  }

  uint64_t FeatureHash(int column, int64_t feature) const {
    return columns_.is_string(column) ? Fingerprint64(columns_.String(column, feature))
                                      : static_cast<uint64_t>(columns_.Int(column, feature));
  }

  const int num_sparse_, num_dense_;
  CrossColumnSet columns_;
};

class SparseCrossKernel : public CrossKernel {
 public:
  explicit SparseCrossKernel(KernelInit& init)
      : CrossKernel(init),
        hashed_(init.attr<DType>("out_type") == DType::kInt64),
        num_buckets_(init.attr<int64_t>("num_buckets")),
        key_(static_cast<uint64_t>(init.attr<int64_t>("hash_key"))) {
    if (init.attr<DType>("internal_type") != DType::kString) return;
    for (const char* list : {"sparse_types", "dense_types"}) {
      for (const DType type : init.attr<std::vector<DType>>(list)) {
        if (type != DType::kString) {
          throw InvalidArgument("columns must be strings when internal_type is string, got {}",
                                DTypeName(type));
        }
      }
    }
  }

  void Compute(KernelContext& ctx) override {
    if (hashed_) {
      CrossHashes(ctx, &key_, num_buckets_,
                  [this](int column, int64_t feature) { return FeatureHash(column, feature); });
    } else {
      CrossTexts(ctx, "_X_");
    }
  }

 private:
  const bool hashed_;
  const int64_t num_buckets_;
  const uint64_t key_;
};

class SparseCrossHashedKernel : public CrossKernel {
 public:
  explicit SparseCrossHashedKernel(KernelInit& init) : CrossKernel(init) {}

  void Compute(KernelContext& ctx) override {
    const int64_t num_buckets = IndexScalar(extra_input(ctx, 0), "num_buckets");
    CheckVector(extra_input(ctx, 2), "salt", 2);
    const int64_t* const salt = extra_input(ctx, 2).data<int64_t>();
    key0_ = static_cast<uint64_t>(salt[0]);
    key1_ = static_cast<uint64_t>(salt[1]);
    if (extra_input(ctx, 1).scalar<bool>()) {
      CrossHashes(ctx, nullptr, num_buckets,
                  [this](int column, int64_t feature) { return StrongHash(column, feature); });
    } else {
      CrossHashes(ctx, nullptr, num_buckets,
                  [this](int column, int64_t feature) { return WeakHash(column, feature); });
    }
  }

 private:
  // TensorFlow hashes the low half of integers in sparse columns, and takes those in dense ones as
  // they are.
  std::string LowHalf(int column, int64_t feature) const {
    std::string bytes;
    PutFixed32(&bytes, static_cast<uint32_t>(columns_.Int(column, feature)));
    return bytes;
  }
  uint64_t WeakHash(int column, int64_t feature) const {
    if (columns_.is_string(column) || column >= num_sparse_) return FeatureHash(column, feature);
    return Fingerprint64(LowHalf(column, feature));
  }
  uint64_t StrongHash(int column, int64_t feature) const {
    if (columns_.is_string(column)) return SipHash(key0_, key1_, columns_.String(column, feature));
    if (column < num_sparse_) return SipHash(key0_, key1_, LowHalf(column, feature));
    throw Unimplemented("there is no strong hash of integers in dense columns");
  }

  uint64_t key0_ = 0, key1_ = 0;
};

class SparseCrossV2Kernel : public CrossKernel {
 public:
  explicit SparseCrossV2Kernel(KernelInit& init) : CrossKernel(init) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& separator = extra_input(ctx, 0);
    if (separator.rank() != 0) {
      throw InvalidArgument("sep must be a scalar, got shape {}", separator.shape().ToString());
    }
    CrossTexts(ctx, separator.scalar<std::string>());
  }
};

}  // namespace

void RegisterSparseCrossCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("SparseCross").Make<SparseCrossKernel>());
  registry.Add(KernelDef("SparseCrossHashed").Make<SparseCrossHashedKernel>());
  registry.Add(KernelDef("SparseCrossV2").Make<SparseCrossV2Kernel>());
}

}  // namespace sextant

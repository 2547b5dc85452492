#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/fingerprint.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/ops/array/index_tensor.h"
#include "sextant/ops/sparse/cross_columns.h"

namespace sextant {
namespace {

class CrossKernel : public Kernel {
 public:
  explicit CrossKernel(KernelInit& init)
      : num_sparse_(static_cast<int>(init.attr<int64_t>("N"))),
        num_dense_(static_cast<int>(init.attr<std::vector<DType>>("dense_types").size())) {}

 protected:
  // The op's own inputs come after the columns.
  const Tensor& extra_input(KernelContext& ctx, int i) const {
    return ctx.input(3 * num_sparse_ + num_dense_ + i);
  }

  // Emits indices and shape; write(n, features) makes the value of combination n.
  template <typename Write>
  void Cross(KernelContext& ctx, Write write) {
    columns_.Set(ctx, num_sparse_, num_dense_);
    int64_t* const shape = ctx.AllocateOutput(2, {2}).data<int64_t>();
    shape[0] = columns_.batch();
    shape[1] = columns_.widest();
    int64_t* const indices = ctx.AllocateOutput(0, {columns_.total(), 2}).data<int64_t>();
    Tensor& values = ctx.AllocateOutput(1, {columns_.total()});
    int64_t n = 0;
    columns_.ForEach([&](int64_t row, int64_t k, const int64_t* features) {
      indices[2 * n] = row;
      indices[2 * n + 1] = k;
      write(values, n++, features);
    });
  }

  void CrossHashes(KernelContext& ctx, bool keyed, uint64_t key, int64_t num_buckets) {
    const uint64_t buckets = num_buckets > 0 ? static_cast<uint64_t>(num_buckets)
                                             : std::numeric_limits<int64_t>::max();
    Cross(ctx, [&](Tensor& values, int64_t n, const int64_t* features) {
      uint64_t hash = key;
      for (int c = 0; c < columns_.size(); ++c) {
        const uint64_t feature = columns_.is_string(c)
                                     ? Fingerprint64(columns_.String(c, features[c]))
                                     : static_cast<uint64_t>(columns_.Int(c, features[c]));
        hash = c == 0 && !keyed ? feature : FingerprintCat64(hash, feature);
      }
      values.data<int64_t>()[n] = static_cast<int64_t>(hash % buckets);
    });
  }

  void CrossTexts(KernelContext& ctx, std::string_view separator) {
    Cross(ctx, [&](Tensor& values, int64_t n, const int64_t* features) {
      std::string& text = values.data<std::string>()[n];
      text.clear();
      for (int c = 0; c < columns_.size(); ++c) {
        if (c > 0) text += separator;
        columns_.AppendText(c, features[c], &text);
      }
    });
  }

 private:
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
      CrossHashes(ctx, true, key_, num_buckets_);
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
    if (extra_input(ctx, 1).scalar<bool>()) {
      throw Unimplemented("crosses with strong_hash are not supported");
    }
    CrossHashes(ctx, false, 0, num_buckets);
  }
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

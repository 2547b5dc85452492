#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/base/fingerprint.h"
#include "sextant/base/hash64.h"
#include "sextant/base/sip_hash.h"
#include "sextant/device/kernel_registry.h"

namespace sextant {
namespace {

// Hash(text) of each string, modulo the number of buckets. "Hash" is made from the node.
template <typename Hash>
class HashBucketKernel : public Kernel {
 public:
  explicit HashBucketKernel(KernelInit& init)
      : hash_(init), num_buckets_(static_cast<uint64_t>(init.attr<int64_t>("num_buckets"))) {}

  void Compute(KernelContext& ctx) override {
    const Tensor& in = ctx.input(0);
    const std::string* const src = in.data<std::string>();
    int64_t* const out = ctx.AllocateOutput(0, in.shape()).template data<int64_t>();
    ctx.ParallelFor(in.num_elements(), Hash::kCost, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[i] = static_cast<int64_t>(hash_(src[i]) % num_buckets_);
      }
    });
  }

 private:
  const Hash hash_;
  const uint64_t num_buckets_;
};

struct OldHash {
  static constexpr double kCost = 20;
  explicit OldHash(KernelInit&) {}
  uint64_t operator()(std::string_view text) const { return Hash64(text); }
};

struct FastHash {
  static constexpr double kCost = 8;
  explicit FastHash(KernelInit&) {}
  uint64_t operator()(std::string_view text) const { return Fingerprint64(text); }
};

struct StrongHash {
  static constexpr double kCost = 20;
  explicit StrongHash(KernelInit& init) {
    const auto& key = init.attr<std::vector<int64_t>>("key");
    if (key.size() != 2) throw InvalidArgument("key must have 2 elements, got {}", key.size());
    key0_ = static_cast<uint64_t>(key[0]);
    key1_ = static_cast<uint64_t>(key[1]);
  }
  uint64_t operator()(std::string_view text) const { return SipHash(key0_, key1_, text); }

 private:
  uint64_t key0_, key1_;
};

// The fingerprint of a row of several strings is that of their fingerprints.
uint64_t StringsFingerprint(const std::string* row, int64_t size, std::string* scratch) {
  if (size == 1) return Fingerprint64(*row);
  scratch->clear();
  for (int64_t i = 0; i < size; ++i) {
    const uint64_t one = Fingerprint64(row[i]);
    scratch->append(reinterpret_cast<const char*>(&one), sizeof one);
  }
  return Fingerprint64(*scratch);
}

void FingerprintRows(KernelContext& ctx) {
  const Tensor& data = ctx.input(0);
  const Tensor& method = ctx.input(1);
  if (data.rank() == 0) throw InvalidArgument("data must have at least one dimension");
  if (method.rank() != 0 || *method.data<std::string>() != "farmhash64") {
    throw InvalidArgument("method must be \"farmhash64\", got {}", method.ToString());
  }
  const bool strings = data.dtype() == DType::kString;
  if (!strings && !IsPlain(data.dtype())) {
    throw InvalidArgument("{} has no fingerprint", DTypeName(data.dtype()));
  }
  const int64_t rows = data.dim(0), size = rows == 0 ? 0 : data.num_elements() / rows;
  const size_t row_bytes = static_cast<size_t>(size) * DTypeSize(data.dtype());
  uint8_t* const out = ctx.AllocateOutput(0, Shape{rows, 8}).data<uint8_t>();
  std::string scratch;
  for (int64_t i = 0; i < rows; ++i) {
    const auto* const bytes = static_cast<const char*>(data.raw_data()) + i * row_bytes;
    const uint64_t hash =
        strings ? StringsFingerprint(data.data<std::string>() + i * size, size, &scratch)
                : Fingerprint64(std::string_view(bytes, row_bytes));
    std::memcpy(out + 8 * i, &hash, sizeof hash);
  }
}

}  // namespace

void RegisterHashBucketCpu(KernelRegistry& registry) {
  registry.Add(KernelDef("StringToHashBucket").Make<HashBucketKernel<OldHash>>());
  registry.Add(KernelDef("StringToHashBucketFast").Make<HashBucketKernel<FastHash>>());
  registry.Add(KernelDef("StringToHashBucketStrong").Make<HashBucketKernel<StrongHash>>());
  registry.Add(KernelDef("Fingerprint").Function(FingerprintRows));
}

}  // namespace sextant

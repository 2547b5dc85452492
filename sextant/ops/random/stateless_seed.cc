#include "sextant/ops/random/stateless_seed.h"

#include "sextant/base/error.h"

namespace sextant {
namespace {

constexpr int32_t kAnyAlgorithm = 3;

int64_t SeedAt(const Tensor& seed, int i) {
  switch (seed.dtype()) {
    case DType::kInt32:
      return seed.data<int32_t>()[i];
    case DType::kUInt32:
      return seed.data<uint32_t>()[i];
    case DType::kUInt64:
      return static_cast<int64_t>(seed.data<uint64_t>()[i]);
    default:
      return seed.data<int64_t>()[i];
  }
}

}  // namespace

Philox StreamOfSeed(const Tensor& seed) {
  if (!(seed.shape() == Shape{2})) {
    throw InvalidArgument("seed must have shape [2], not {}", seed.shape().ToString());
  }
  return Philox::ForStatelessSeed(SeedAt(seed, 0), SeedAt(seed, 1));
}

Philox StreamOfKey(const Tensor& key, const Tensor& counter, const Tensor& algorithm) {
  if (algorithm.rank() != 0) {
    throw InvalidArgument("algorithm must be a scalar, got {}", algorithm.Describe());
  }
  const auto number = algorithm.scalar<int32_t>();
  if (number != kPhiloxAlgorithm && number != kAnyAlgorithm) {
    throw InvalidArgument("unsupported algorithm {}", number);
  }
  if (!(key.shape() == Shape{1})) {
    throw InvalidArgument("key must have shape [1], not {}", key.shape().ToString());
  }
  if (counter.rank() != 1 || counter.dim(0) < 2) {
    throw InvalidArgument("counter must have shape [2], not {}", counter.shape().ToString());
  }
  const auto* words = counter.data<uint64_t>();
  return Philox(key.data<uint64_t>()[0], {words[0], words[1]});
}

}  // namespace sextant

// RandomStream: how the kernel of a stateful random op finds its place in its stream.
#pragma once

#include <memory>

#include "sextant/device/kernel.h"
#include "sextant/device/random_state.h"

namespace sextant {

// A member of the kernel. The state itself belongs to the session and the node's name.
class RandomStream {
 public:
  // Reads the attributes "seed" and "seed2".
  explicit RandomStream(const KernelInit& init)
      : seed_(init.attr<int64_t>("seed")), seed2_(init.attr<int64_t>("seed2")) {}

  // Where this call starts; the next one starts "num_blocks" further on.
  Philox Reserve(KernelContext& ctx, uint64_t num_blocks);

 private:
  const int64_t seed_, seed2_;
  std::shared_ptr<RandomState> state_;
};

// What an op takes of its stream for each element it gives, however much it needs.
inline constexpr uint64_t kBlocksPerElement = 256;

}  // namespace sextant

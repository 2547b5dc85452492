// ShuffleDraws: the random numbers of a Shuffle, addressed by their count.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sextant/base/philox.h"

namespace sextant::data {

struct ShuffleDraws {
  uint64_t seed = 0;
  uint64_t count = 0;  // how many were drawn

  // A number below `end`; each is as likely as the others to one part in 2^32 of `end`.
  size_t Below(size_t end) {
    const Philox::Block block = Philox::At(seed, {count++, 0});
    const uint64_t bits = UniformBits64(block[0], block[1]);
    return static_cast<size_t>(static_cast<unsigned __int128>(bits) * end >> 64);
  }
};

}  // namespace sextant::data

#include "sextant/base/hash64.h"

#include <cstring>

namespace sextant {

uint64_t Hash64(std::string_view bytes, uint64_t seed) {
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  constexpr int kShift = 47;
  uint64_t hash = seed ^ (bytes.size() * kMultiplier);
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    word *= kMultiplier;
    word ^= word >> kShift;
    word *= kMultiplier;
    hash = (hash ^ word) * kMultiplier;
  }
  if (!bytes.empty()) {
    uint64_t rest = 0;
    for (size_t i = bytes.size(); i-- > 0;) {
      rest = rest << 8 | static_cast<unsigned char>(bytes[i]);
    }
    hash = (hash ^ rest) * kMultiplier;
  }
  hash ^= hash >> kShift;
  hash *= kMultiplier;
  return hash ^ (hash >> kShift);
}

}  // namespace sextant

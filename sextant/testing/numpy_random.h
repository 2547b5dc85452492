// The numbers that numpy.random.RandomState(seed) gives, so that the peers' programs and ours work
// on the same data.
#pragma once

#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace sextant {

class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : bits_(seed) {}

  // uniform(low, high)
  double Uniform(double low, double high) {
    const uint64_t a = bits_() >> 5, b = bits_() >> 6;
    const double unit = static_cast<double>(a * 67108864 + b) / 9007199254740992.0;
    return low + (high - low) * unit;
  }
  // randint(0, limit)
  uint32_t Below(uint32_t limit) {
    uint32_t mask = limit - 1;
    for (int shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
    while (true) {
      const uint32_t value = static_cast<uint32_t>(bits_()) & mask;
      if (value < limit) return value;
    }
  }
  // permutation(size)
  std::vector<int32_t> Permutation(int32_t size) {
    std::vector<int32_t> order(size);
    std::iota(order.begin(), order.end(), 0);
    for (int32_t i = size - 1; i > 0; --i) std::swap(order[i], order[Below(i + 1)]);
    return order;
  }

 private:
  std::mt19937 bits_;
};

}  // namespace sextant

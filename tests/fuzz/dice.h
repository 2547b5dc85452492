// Dice: the random choices of a mutator, all from one seed.
#pragma once

#include <cstdint>
#include <iterator>
#include <random>

namespace sextant::fuzz {

class Dice {
 public:
  explicit Dice(uint32_t seed) : engine_(seed) {}

  // A number in [0, count). REQUIRES: count > 0.
  int Below(int count) { return static_cast<int>(engine_() % static_cast<uint32_t>(count)); }
  bool OneIn(int count) { return Below(count) == 0; }
  uint32_t Bits() { return static_cast<uint32_t>(engine_()); }
  template <typename Container>
  auto& Pick(Container& values) {
    return values[Below(static_cast<int>(std::size(values)))];
  }

 private:
  std::mt19937 engine_;
};

}  // namespace sextant::fuzz

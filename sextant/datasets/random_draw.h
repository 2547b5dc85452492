// Random numbers for synthetic data: the same on every machine, which the distributions of the
// standard library do not promise.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace sextant::datasets {

class RandomDraw {
 public:
  RandomDraw(int64_t seed, int split)
      : engine_(static_cast<uint64_t>(seed) * 1000003 + static_cast<uint64_t>(split)) {}

  // In [0, 1).
  double Uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  int Int(int limit) { return static_cast<int>(Uniform() * limit); }
  bool Chance(double probability) { return Uniform() < probability; }
  // About normal: the sum of 4 uniform numbers, scaled to mean 0 and deviation 1.
  double Normal() {
    double sum = -2;
    for (int i = 0; i < 4; ++i) sum += Uniform();
    return sum * std::sqrt(3.0);
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace sextant::datasets

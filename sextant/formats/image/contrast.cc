#include "sextant/formats/image/contrast.h"

namespace sextant {

void ScaleContrast(const float* from, int64_t pixels, int64_t stride, float factor, float* to) {
  double sum = 0;
  for (int64_t i = 0; i < pixels; ++i) sum += from[i * stride];
  const auto mean = static_cast<float>(sum / static_cast<double>(pixels));
  for (int64_t i = 0; i < pixels; ++i) to[i * stride] = (from[i * stride] - mean) * factor + mean;
}

}  // namespace sextant

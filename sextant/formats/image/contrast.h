// Contrast of one channel of an image: (x - mean) * factor + mean.
#pragma once

#include <cstdint>

namespace sextant {

// Of the values from[0], from[stride], … (`pixels` of them), written to the same places of `to`,
// which may be `from`. The mean is summed in double.
void ScaleContrast(const float* from, int64_t pixels, int64_t stride, float factor, float* to);

}  // namespace sextant

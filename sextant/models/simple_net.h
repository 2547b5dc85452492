// A small convolutional net for images of any size: two 5x5 convolutions with pooling, two dense
// layers.
#pragma once

#include <cstdint>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::models {

struct SEXTANT_API SimpleNetParams {
  int64_t classes = 10;
  float dropout = 0.4f;  // of the 1,024 units
};

// images: [batch, height, width, channels], about -0.5 … 0.5, at least 4x4. Variables conv2d,
// conv2d_1, dense, dense_1 / kernel, bias: 4,259,274 numbers for images of 32x32x3.
Output SimpleNetLogits(Output images, const SimpleNetParams& params, bool training);

}  // namespace sextant::models

#pragma GCC visibility pop

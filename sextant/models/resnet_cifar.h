// ResNet for 32x32 images (version 1, identity shortcuts): 6 n + 2 layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::models {

struct SEXTANT_API ResnetCifarParams {
  int64_t units_per_stage = 7;  // n: 7 gives ResNet-44
  std::vector<int64_t> widths = {16, 32, 64};
  int64_t classes = 11;
  float batch_norm_decay = 0.997f;
  float batch_norm_epsilon = 1e-5f;
  std::string data_format = "NHWC";  // in which it computes; images come as NHWC
};

// images: [batch, 32, 32, 3], numbers 0 … 255. Variables conv2d[_k]/kernel,
// batch_normalization[_k]/…, dense/… in the current VariableScope.
Output ResnetCifarLogits(Output images, const ResnetCifarParams& params, bool training);

// n of a depth 6 n + 2. Throws INVALID_ARGUMENT for other depths.
int64_t UnitsPerStage(int64_t layers);

}  // namespace sextant::models

#pragma GCC visibility pop

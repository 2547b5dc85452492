// MaxPool3D, AvgPool3D: pooling over boxes of volumes [batch, depth, height, width, channels]. The
// kernels are those of pool.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Sizes and strides have one number per dimension of the input, in the order of data_format.
struct SEXTANT_API Pool3DOptions {
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding = "VALID";  // or "SAME"
  std::string data_format = "NDHWC";
};

// The largest element in each window.
Output MaxPool3D(Output x, const Pool3DOptions& options);
// The mean of the elements in each window, padding not counted.
Output AvgPool3D(Output x, const Pool3DOptions& options);

}  // namespace sextant

#pragma GCC visibility pop

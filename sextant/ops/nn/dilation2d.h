// Dilation2D and its gradients: grey-scale morphological dilation of images.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Lists have one entry for each dimension.
struct SEXTANT_API Dilation2DOptions {
  std::vector<int64_t> strides = {1, 1, 1, 1};
  std::vector<int64_t> rates = {1, 1, 1, 1};
  std::string padding = "VALID";  // or "SAME"
};

// y[n, i, j, c] = max over p, q of
//   x[n, i * stride + p * rate - pad, j * stride + q * rate - pad, c] + filter[p, q, c],
// over the taps inside x. filter is [height, width, channels].
Output Dilation2D(Output x, Output filter, const Dilation2DOptions& options = {});
// The gradients: that of each position goes to the first tap with the largest sum.
Output Dilation2DBackpropInput(Output x, Output filter, Output out_backprop,
                               const Dilation2DOptions& options = {});
Output Dilation2DBackpropFilter(Output x, Output filter, Output out_backprop,
                                const Dilation2DOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

// MaxPool, AvgPool, MaxPoolWithArgmax: pooling over rectangular windows of images [batch, height,
// width, channels].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// Sizes and strides have one number per dimension of the input, in the order of data_format.
struct SEXTANT_API PoolOptions {
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding = "VALID";  // "SAME"; max pooling also "EXPLICIT"
  std::string data_format = "NHWC";
  std::vector<int64_t> explicit_paddings = {};  // before and after each dimension
};

// y[n,i,j,c] = max of x[n,:,:,c] in the window at (i, j).
Output MaxPool(Output x, const PoolOptions& options);
// y[n,i,j,c] = mean of x[n,:,:,c] in the window at (i, j), padding not counted.
Output AvgPool(Output x, const PoolOptions& options);
// MaxPool whose window (four int32 each) is known when the graph runs.
Output MaxPoolV2(Output x, Output ksize, Output strides, const std::string& padding = "VALID",
                 const std::string& data_format = "NHWC");

// Gradients with respect to the inputs.
Output MaxPoolGrad(Output x, Output y, Output grad_y, const PoolOptions& options);
Output AvgPoolGrad(Output x_shape, Output grad_y, const PoolOptions& options);

struct SEXTANT_API MaxPoolWithArgmaxOptions {
  std::vector<int64_t> ksize;
  std::vector<int64_t> strides;
  std::string padding = "VALID";
  DType argmax_type = DType::kInt64;
  bool include_batch_in_index = false;
};
struct SEXTANT_API MaxPoolWithArgmaxResult {
  Output output;
  Output argmax;  // (i * width + j) * channels + c, plus the batch's offset if included
};
MaxPoolWithArgmaxResult MaxPoolWithArgmax(Output x, const MaxPoolWithArgmaxOptions& options);

}  // namespace sextant

#pragma GCC visibility pop

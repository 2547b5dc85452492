// Conv2D, Conv2DBackpropInput, Conv2DBackpropFilter: convolution of images with filters: strided,
// dilated, grouped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// Lists have one entry (paddings two) for each dimension, in the order of data_format.
struct SEXTANT_API Conv2DOptions {
  std::vector<int64_t> strides = {1, 1, 1, 1};
  std::string padding = "VALID";  // "SAME", "VALID", "EXPLICIT"
  std::string data_format = "NHWC";
  std::vector<int64_t> dilations = {1, 1, 1, 1};
  std::vector<int64_t> explicit_paddings = {};  // of "EXPLICIT": before and after each dimension
};

// y[n, i, j, k] = sum over p, q, c of
//   x[n, i * stride + p * dilation - pad, j * stride + q * dilation - pad, c] * filter[p, q, c, k],
// where x is zero outside. filter is [height, width, in, out]. When x has g times as many channels
// as the filter, both are divided into g groups.
Output Conv2D(Output x, Output filter, const Conv2DOptions& options = {});
// The gradient of Conv2D with respect to its input, which has the shape input_sizes (or only the
// height and width, of two elements): the "transposed convolution" of out_backprop.
Output Conv2DBackpropInput(const IndexArg& input_sizes, Output filter, Output out_backprop,
                           const Conv2DOptions& options = {});
// The gradient of Conv2D with respect to its filter, which has the shape filter_sizes.
Output Conv2DBackpropFilter(Output x, const IndexArg& filter_sizes, Output out_backprop,
                            const Conv2DOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

// Conv3D, Conv3DBackpropInput, Conv3DBackpropFilter: convolution over three spatial axes: volumes,
// or images in time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"

#pragma GCC visibility push(default)

namespace sextant {

// Lists have one entry for each dimension, in the order of data_format.
struct SEXTANT_API Conv3DOptions {
  std::vector<int64_t> strides = {1, 1, 1, 1, 1};
  std::string padding = "VALID";      // or "SAME"
  std::string data_format = "NDHWC";  // or "NCDHW"
  std::vector<int64_t> dilations = {1, 1, 1, 1, 1};
};

// As Conv2D with one more axis: filter is [depth, height, width, in, out].
Output Conv3D(Output x, Output filter, const Conv3DOptions& options = {});
// The gradient with respect to the input, which has the shape input_sizes
// (op Conv3DBackpropInputV2).
Output Conv3DBackpropInput(const IndexArg& input_sizes, Output filter, Output out_backprop,
                           const Conv3DOptions& options = {});
// The gradient with respect to the filter, which has the shape filter_sizes
// (op Conv3DBackpropFilterV2).
Output Conv3DBackpropFilter(Output x, const IndexArg& filter_sizes, Output out_backprop,
                            const Conv3DOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

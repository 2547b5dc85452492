// DepthwiseConv2dNative and its gradients: every channel of an image is convolved with filters of
// its own.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/array/index_arg.h"
#include "sextant/ops/nn/conv.h"

#pragma GCC visibility push(default)

namespace sextant {

// y[n, i, j, c * m + q] = sum over p, r of
//   x[n, i * stride + p * dilation - pad, j * stride + r * dilation - pad, c] * filter[p, r, c, q],
// for q < m. filter is [height, width, in, m].
Output DepthwiseConv2dNative(Output x, Output filter, const Conv2DOptions& options = {});
// The gradient with respect to the input, which has the shape input_sizes.
Output DepthwiseConv2dNativeBackpropInput(const IndexArg& input_sizes, Output filter,
                                          Output out_backprop, const Conv2DOptions& options = {});
// The gradient with respect to the filter, which has the shape filter_sizes.
Output DepthwiseConv2dNativeBackpropFilter(Output x, const IndexArg& filter_sizes,
                                           Output out_backprop, const Conv2DOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

// BiasAdd, BiasAddGrad: adding a vector of biases to the channels of a tensor.
#pragma once

#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API BiasAddOptions {
  std::string data_format = "NHWC";  // channels last; "NCHW": channels are dimension 1
};
// value[..., c] + bias[c].
Output BiasAdd(Output value, Output bias, const BiasAddOptions& options = {});
// The sum over all dimensions but the channels: the gradient of the bias.
Output BiasAddGrad(Output out_backprop, const BiasAddOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

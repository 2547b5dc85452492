// Adding a vector of biases to the channels of a tensor.
#pragma once

#include <string>

#include "sextant/graph/output.h"

namespace sextant {

struct BiasAddOptions {
  std::string data_format = "NHWC";  // channels last; "NCHW": channels are dimension 1
};
// value[..., c] + bias[c].
Output BiasAdd(Output value, Output bias, const BiasAddOptions& options = {});
// The sum over all dimensions but the channels: the gradient of the bias.
Output BiasAddGrad(Output out_backprop, const BiasAddOptions& options = {});

}  // namespace sextant

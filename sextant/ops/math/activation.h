// Relu, Relu6, Elu, Selu, Softplus, Softsign, LeakyRelu: activation functions.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

Output Relu(Output features);      // max(x, 0)
Output Relu6(Output features);     // min(max(x, 0), 6)
Output Elu(Output features);       // x, below 0: e^x - 1
Output Selu(Output features);      // 1.0507 x, below 0: 1.7581 (e^x - 1)
Output Softplus(Output features);  // log(1 + e^x)
Output Softsign(Output features);  // x / (1 + |x|)

struct SEXTANT_API LeakyReluOptions {
  float alpha = 0.2f;  // slope below 0
};
Output LeakyRelu(Output features, const LeakyReluOptions& options = {});  // x, below 0: alpha x

}  // namespace sextant

#pragma GCC visibility pop

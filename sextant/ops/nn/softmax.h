// Softmax, LogSoftmax: along the last dimension.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// exp(x) / sum(exp(x))
Output Softmax(Output logits);
// x - log(sum(exp(x)))
Output LogSoftmax(Output logits);

}  // namespace sextant

#pragma GCC visibility pop

// Softmax along the last dimension.
#pragma once

#include "sextant/graph/output.h"

namespace sextant {

// exp(x) / sum(exp(x))
Output Softmax(Output logits);
// x - log(sum(exp(x)))
Output LogSoftmax(Output logits);

}  // namespace sextant

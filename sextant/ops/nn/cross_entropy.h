// SoftmaxCrossEntropyWithLogits, SparseSoftmaxCrossEntropyWithLogits: cross entropies of the
// softmax of logits, with their gradients.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API CrossEntropyResult {
  Output loss;      // one per row
  Output backprop;  // gradient of the loss with respect to the logits
};

// loss[b] = -sum_j labels[b,j] * log(softmax(logits)[b,j]); matrices, broadcast to each other.
CrossEntropyResult SoftmaxCrossEntropyWithLogits(Output logits, Output labels);
// loss[b] = -log(softmax(logits)[b, labels[b]])
CrossEntropyResult SparseSoftmaxCrossEntropyWithLogits(Output logits, Output labels);

}  // namespace sextant

#pragma GCC visibility pop

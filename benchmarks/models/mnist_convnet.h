// Two convolutions with pooling, a dense layer with dropout and a softmax over ten digits.
#pragma once

#include "sextant/graph/output.h"

namespace sextant::bench {

struct MnistConvnet {
  Output images;         // float[batch, 784]
  Output labels;         // float[batch, 10], one-hot
  Output keep;           // scalar: the probability with which dropout keeps an element
  Output probabilities;  // [batch, 10]
  Output loss;           // cross entropy, added over the batch
  Operation train;       // one step of Adam
};

// In the current graph. Variables are initialised at random.
MnistConvnet BuildMnistConvnet();

}  // namespace sextant::bench

// The residual network of 44 layers for images of 32 x 32 pixels.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/math/activation.h"

namespace sextant::bench {

struct Resnet44Training {
  Output logits;
  Output loss;      // mean cross entropy and weight decay
  Operation train;  // one step of momentum, the running statistics included
};

// In the current graph; images are float[batch, 32, 32, 3] in 0..255, labels int32[batch].
// Variables are initialised at random. The network has Relu; its smooth variant, whose gradients
// do not jump where rounding changes a sign, another activation.
Resnet44Training BuildResnet44Training(Output images, Output labels, float rate = 0.01f,
                                       Output (*activation)(Output) = Relu);

// The probabilities of the classes, by the running statistics.
Output BuildResnet44Inference(Output images);

}  // namespace sextant::bench

// Gradients of the TensorArray ops: what is read is written to the gradient array, what is written
// is read from it. The gradient of a flow is a flow.
#pragma once

#include "sextant/graph/gradients.h"

namespace sextant {

void TensorArrayReadGradient(GradientContext& c);
void TensorArrayWriteGradient(GradientContext& c);
void TensorArrayGatherGradient(GradientContext& c);
void TensorArrayScatterGradient(GradientContext& c);
void TensorArrayConcatGradient(GradientContext& c);
void TensorArraySplitGradient(GradientContext& c);

}  // namespace sextant

// Gradients of ops that broadcast: the gradient is summed over the dimensions along which an input
// was repeated.
#pragma once

#include "sextant/graph/gradients.h"
#include "sextant/graph/output.h"

namespace sextant {

// "gradient", which has the shape that x and "other" broadcast to, summed to the shape of x. Adds
// nothing to the graph when the static shapes show that x was not repeated.
Output SumToShapeOf(Output x, Output other, Output gradient);

// Sets the gradients of inputs 0 and 1 to these, summed to the inputs' shapes.
void SetBroadcastGradients(GradientContext& c, Output grad_x, Output grad_y);

}  // namespace sextant

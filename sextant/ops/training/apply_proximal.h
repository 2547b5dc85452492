// ResourceApplyProximalGradientDescent, ResourceApplyProximalAdagrad: update steps with proximal l1
// and l2 penalties.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// p = var - alpha * delta;  var = sign(p) * max(|p| - alpha * l1, 0) / (1 + l2 * alpha)
Operation ResourceApplyProximalGradientDescent(Output var, Output alpha, Output l1, Output l2,
                                               Output delta);
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyProximalGradientDescent(Output var, Output alpha, Output l1, Output l2,
                                                     Output grad, Output indices);

// accum += grad^2;  then as above with alpha = lr / sqrt(accum)
Operation ResourceApplyProximalAdagrad(Output var, Output accum, Output lr, Output l1, Output l2,
                                       Output grad);
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyProximalAdagrad(Output var, Output accum, Output lr, Output l1,
                                             Output l2, Output grad, Output indices);

}  // namespace sextant

#pragma GCC visibility pop

// ResourceApplyAdadelta: the update step of Adadelta, whose steps have the size of earlier updates.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// accum = rho * accum + (1 - rho) * grad^2
// update = sqrt(accum_update + epsilon) / sqrt(accum + epsilon) * grad;  var -= lr * update
// accum_update = rho * accum_update + (1 - rho) * update^2
Operation ResourceApplyAdadelta(Output var, Output accum, Output accum_update, Output lr,
                                Output rho, Output epsilon, Output grad);
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyAdadelta(Output var, Output accum, Output accum_update, Output lr,
                                      Output rho, Output epsilon, Output grad, Output indices);

}  // namespace sextant

#pragma GCC visibility pop

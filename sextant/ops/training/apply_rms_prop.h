// ResourceApplyRMSProp, ResourceApplyCenteredRMSProp: gradients divided by a moving root of their
// mean square.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// ms += (1 - rho) * (grad^2 - ms)
// mom = momentum * mom + lr * grad / sqrt(ms + epsilon);  var -= mom
Operation ResourceApplyRMSProp(Output var, Output ms, Output mom, Output lr, Output rho,
                               Output momentum, Output epsilon, Output grad);
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyRMSProp(Output var, Output ms, Output mom, Output lr, Output rho,
                                     Output momentum, Output epsilon, Output grad, Output indices);

// mg += (1 - rho) * (grad - mg);  then as above with ms - mg^2 in the root
Operation ResourceApplyCenteredRMSProp(Output var, Output mg, Output ms, Output mom, Output lr,
                                       Output rho, Output momentum, Output epsilon, Output grad);
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyCenteredRMSProp(Output var, Output mg, Output ms, Output mom,
                                             Output lr, Output rho, Output momentum, Output epsilon,
                                             Output grad, Output indices);

}  // namespace sextant

#pragma GCC visibility pop

// ResourceApplyAddSign, ResourceApplyPowerSign: update steps scaled by whether the gradient agrees
// in sign with its moving average.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// m = beta * m + (1 - beta) * grad
// var -= lr * (alpha + sign_decay * sign(grad) * sign(m)) * grad
Operation ResourceApplyAddSign(Output var, Output m, Output lr, Output alpha, Output sign_decay,
                               Output beta, Output grad);

// m = beta * m + (1 - beta) * grad
// var -= lr * exp(logbase * sign_decay * sign(grad) * sign(m)) * grad
Operation ResourceApplyPowerSign(Output var, Output m, Output lr, Output logbase, Output sign_decay,
                                 Output beta, Output grad);

}  // namespace sextant

#pragma GCC visibility pop

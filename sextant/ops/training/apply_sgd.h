// ResourceApplyGradientDescent, -Momentum, -KerasMomentum: update steps of gradient descent, plain
// and with momentum, on variables given by their handles.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ApplyMomentumOptions {
  bool use_nesterov = false;
};

// var -= alpha * delta
Operation ResourceApplyGradientDescent(Output var, Output alpha, Output delta);

// accum = momentum * accum + grad;  var -= lr * accum
// With use_nesterov: var -= lr * (grad + momentum * accum), accum being the new one.
Operation ResourceApplyMomentum(Output var, Output accum, Output lr, Output grad, Output momentum,
                                const ApplyMomentumOptions& options = {});
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyMomentum(Output var, Output accum, Output lr, Output grad,
                                      Output indices, Output momentum,
                                      const ApplyMomentumOptions& options = {});

// accum = momentum * accum - lr * grad;  var += accum
// With use_nesterov: var += momentum * accum - lr * grad, accum being the new one.
Operation ResourceApplyKerasMomentum(Output var, Output accum, Output lr, Output grad,
                                     Output momentum, const ApplyMomentumOptions& options = {});
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyKerasMomentum(Output var, Output accum, Output lr, Output grad,
                                           Output indices, Output momentum,
                                           const ApplyMomentumOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

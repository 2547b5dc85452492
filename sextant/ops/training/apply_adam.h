// ResourceApplyAdam, -WithAmsgrad, ResourceApplyAdaMax: update steps on moving averages of
// gradients and their squares.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ApplyAdamOptions {
  bool use_nesterov = false;
};

// m += (1 - beta1) * (grad - m);  v += (1 - beta2) * (grad^2 - v)
// var -= lr * sqrt(1 - beta2_power) / (1 - beta1_power) * m / (sqrt(v) + epsilon)
// With use_nesterov: beta1 * m + (1 - beta1) * grad in the place of m.
Operation ResourceApplyAdam(Output var, Output m, Output v, Output beta1_power, Output beta2_power,
                            Output lr, Output beta1, Output beta2, Output epsilon, Output grad,
                            const ApplyAdamOptions& options = {});

// As Adam, with vhat = max(vhat, v) in the place of v in the last line.
Operation ResourceApplyAdamWithAmsgrad(Output var, Output m, Output v, Output vhat,
                                       Output beta1_power, Output beta2_power, Output lr,
                                       Output beta1, Output beta2, Output epsilon, Output grad);

// m += (1 - beta1) * (grad - m);  v = max(beta2 * v, |grad|)
// var -= lr / (1 - beta1_power) * m / (v + epsilon)
Operation ResourceApplyAdaMax(Output var, Output m, Output v, Output beta1_power, Output lr,
                              Output beta1, Output beta2, Output epsilon, Output grad);

}  // namespace sextant

#pragma GCC visibility pop

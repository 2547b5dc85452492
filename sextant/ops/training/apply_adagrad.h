// ResourceApplyAdagrad, -V2, -DA: update steps of Adagrad: steps shrink with the sum of the squares
// of all gradients.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ApplyAdagradOptions {
  bool update_slots = true;
};

// accum += grad^2 (with update_slots);  var -= lr * grad / sqrt(accum)
Operation ResourceApplyAdagrad(Output var, Output accum, Output lr, Output grad,
                               const ApplyAdagradOptions& options = {});
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyAdagrad(Output var, Output accum, Output lr, Output grad,
                                     Output indices, const ApplyAdagradOptions& options = {});

// accum += grad^2 (with update_slots);  var -= lr * grad / (sqrt(accum) + epsilon)
Operation ResourceApplyAdagradV2(Output var, Output accum, Output lr, Output epsilon, Output grad,
                                 const ApplyAdagradOptions& options = {});
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyAdagradV2(Output var, Output accum, Output lr, Output epsilon,
                                       Output grad, Output indices,
                                       const ApplyAdagradOptions& options = {});

// With sum and square_sum the accumulators after the step and t = global_step:
// var = -lr * sign(sum) * max(|sum| - l1 * t, 0) / (l2 * t * lr + sqrt(square_sum))
Operation ResourceApplyAdagradDA(Output var, Output gradient_accumulator,
                                 Output gradient_squared_accumulator, Output grad, Output lr,
                                 Output l1, Output l2, Output global_step);
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyAdagradDA(Output var, Output gradient_accumulator,
                                       Output gradient_squared_accumulator, Output grad,
                                       Output indices, Output lr, Output l1, Output l2,
                                       Output global_step);

}  // namespace sextant

#pragma GCC visibility pop

// ResourceApplyFtrl, -V2: update steps of follow-the-regularized-leader, which keeps weights at
// zero under l1.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API ApplyFtrlOptions {
  bool multiply_linear_by_lr = false;
};

// new_accum = accum + grad^2
// linear += grad - (new_accum^-lr_power - accum^-lr_power) / lr * var;  accum = new_accum
// var = (clip(linear, -l1, l1) - linear) / (accum^-lr_power / lr + 2 * l2)
// With multiply_linear_by_lr the slot holds lr * linear.
Operation ResourceApplyFtrl(Output var, Output accum, Output linear, Output grad, Output lr,
                            Output l1, Output l2, Output lr_power,
                            const ApplyFtrlOptions& options = {});
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyFtrl(Output var, Output accum, Output linear, Output grad,
                                  Output indices, Output lr, Output l1, Output l2, Output lr_power,
                                  const ApplyFtrlOptions& options = {});

// The same with grad + 2 * l2_shrinkage * var in the place of the grad that joins linear.
Operation ResourceApplyFtrlV2(Output var, Output accum, Output linear, Output grad, Output lr,
                              Output l1, Output l2, Output l2_shrinkage, Output lr_power,
                              const ApplyFtrlOptions& options = {});
// The same for the rows that "indices" names, one after another where an index repeats.
Operation ResourceSparseApplyFtrlV2(Output var, Output accum, Output linear, Output grad,
                                    Output indices, Output lr, Output l1, Output l2,
                                    Output l2_shrinkage, Output lr_power,
                                    const ApplyFtrlOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

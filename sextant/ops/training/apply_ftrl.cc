#include "sextant/ops/training/apply_ftrl.h"

#include "sextant/ops/training/update_op.h"

namespace sextant {

Operation ResourceApplyFtrl(Output var, Output accum, Output linear, Output grad, Output lr,
                            Output l1, Output l2, Output lr_power,
                            const ApplyFtrlOptions& options) {
  return BuildUpdate("ResourceApplyFtrl", {var, accum, linear, grad, lr, l1, l2, lr_power},
                     "multiply_linear_by_lr", options.multiply_linear_by_lr);
}
Operation ResourceSparseApplyFtrl(Output var, Output accum, Output linear, Output grad,
                                  Output indices, Output lr, Output l1, Output l2, Output lr_power,
                                  const ApplyFtrlOptions& options) {
  return BuildUpdate("ResourceSparseApplyFtrl",
                     {var, accum, linear, grad, indices, lr, l1, l2, lr_power},
                     "multiply_linear_by_lr", options.multiply_linear_by_lr);
}
Operation ResourceApplyFtrlV2(Output var, Output accum, Output linear, Output grad, Output lr,
                              Output l1, Output l2, Output l2_shrinkage, Output lr_power,
                              const ApplyFtrlOptions& options) {
  return BuildUpdate("ResourceApplyFtrlV2",
                     {var, accum, linear, grad, lr, l1, l2, l2_shrinkage, lr_power},
                     "multiply_linear_by_lr", options.multiply_linear_by_lr);
}
Operation ResourceSparseApplyFtrlV2(Output var, Output accum, Output linear, Output grad,
                                    Output indices, Output lr, Output l1, Output l2,
                                    Output l2_shrinkage, Output lr_power,
                                    const ApplyFtrlOptions& options) {
  return BuildUpdate("ResourceSparseApplyFtrlV2",
                     {var, accum, linear, grad, indices, lr, l1, l2, l2_shrinkage, lr_power},
                     "multiply_linear_by_lr", options.multiply_linear_by_lr);
}

void RegisterApplyFtrl(OpRegistry& registry) {
  AddUpdateOps(registry, {.name = "Ftrl",
                          .slots = {"accum", "linear"},
                          .inputs = "grad:T, lr:T, l1:T, l2:T, lr_power:T",
                          .doc = "One step of follow-the-regularized-leader.",
                          .flag = "multiply_linear_by_lr:bool=False"});
  AddUpdateOps(registry, {.name = "FtrlV2",
                          .slots = {"accum", "linear"},
                          .inputs = "grad:T, lr:T, l1:T, l2:T, l2_shrinkage:T, lr_power:T",
                          .doc = "One step of follow-the-regularized-leader with a further penalty "
                                 "on the size of the variable.",
                          .flag = "multiply_linear_by_lr:bool=False"});
}

}  // namespace sextant

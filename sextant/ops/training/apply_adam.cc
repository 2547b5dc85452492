#include "sextant/ops/training/apply_adam.h"

#include "sextant/ops/training/update_op.h"

namespace sextant {

Operation ResourceApplyAdam(Output var, Output m, Output v, Output beta1_power, Output beta2_power,
                            Output lr, Output beta1, Output beta2, Output epsilon, Output grad,
                            const ApplyAdamOptions& options) {
  return BuildUpdate("ResourceApplyAdam",
                     {var, m, v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad},
                     "use_nesterov", options.use_nesterov);
}
Operation ResourceApplyAdamWithAmsgrad(Output var, Output m, Output v, Output vhat,
                                       Output beta1_power, Output beta2_power, Output lr,
                                       Output beta1, Output beta2, Output epsilon, Output grad) {
  return BuildUpdate("ResourceApplyAdamWithAmsgrad",
                     {var, m, v, vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad});
}
Operation ResourceApplyAdaMax(Output var, Output m, Output v, Output beta1_power, Output lr,
                              Output beta1, Output beta2, Output epsilon, Output grad) {
  return BuildUpdate("ResourceApplyAdaMax",
                     {var, m, v, beta1_power, lr, beta1, beta2, epsilon, grad});
}

void RegisterApplyAdam(OpRegistry& registry) {
  AddUpdateOps(registry,
               {.name = "Adam",
                .slots = {"m", "v"},
                .inputs = "beta1_power:T, beta2_power:T, lr:T, beta1:T, beta2:T, epsilon:T, grad:T",
                .doc = "One step of Adam.",
                .flag = "use_nesterov:bool=False",
                .sparse = false});
  AddUpdateOps(registry,
               {.name = "AdamWithAmsgrad",
                .slots = {"m", "v", "vhat"},
                .inputs = "beta1_power:T, beta2_power:T, lr:T, beta1:T, beta2:T, epsilon:T, grad:T",
                .doc = "One step of Adam with the largest second moment so far.",
                .references = false,
                .sparse = false});
  AddUpdateOps(registry, {.name = "AdaMax",
                          .slots = {"m", "v"},
                          .inputs = "beta1_power:T, lr:T, beta1:T, beta2:T, epsilon:T, grad:T",
                          .doc = "One step of AdaMax: Adam with the infinity norm.",
                          .sparse = false});
}

}  // namespace sextant

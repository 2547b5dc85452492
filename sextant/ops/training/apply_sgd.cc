#include "sextant/ops/training/apply_sgd.h"

#include "sextant/ops/training/update_op.h"

namespace sextant {

Operation ResourceApplyGradientDescent(Output var, Output alpha, Output delta) {
  return BuildUpdate("ResourceApplyGradientDescent", {var, alpha, delta});
}
Operation ResourceApplyMomentum(Output var, Output accum, Output lr, Output grad, Output momentum,
                                const ApplyMomentumOptions& options) {
  return BuildUpdate("ResourceApplyMomentum", {var, accum, lr, grad, momentum}, "use_nesterov",
                     options.use_nesterov);
}
Operation ResourceSparseApplyMomentum(Output var, Output accum, Output lr, Output grad,
                                      Output indices, Output momentum,
                                      const ApplyMomentumOptions& options) {
  return BuildUpdate("ResourceSparseApplyMomentum", {var, accum, lr, grad, indices, momentum},
                     "use_nesterov", options.use_nesterov);
}
Operation ResourceApplyKerasMomentum(Output var, Output accum, Output lr, Output grad,
                                     Output momentum, const ApplyMomentumOptions& options) {
  return BuildUpdate("ResourceApplyKerasMomentum", {var, accum, lr, grad, momentum}, "use_nesterov",
                     options.use_nesterov);
}
Operation ResourceSparseApplyKerasMomentum(Output var, Output accum, Output lr, Output grad,
                                           Output indices, Output momentum,
                                           const ApplyMomentumOptions& options) {
  return BuildUpdate("ResourceSparseApplyKerasMomentum", {var, accum, lr, grad, indices, momentum},
                     "use_nesterov", options.use_nesterov);
}

void RegisterApplySgd(OpRegistry& registry) {
  AddUpdateOps(registry, {.name = "GradientDescent",
                          .slots = {},
                          .inputs = "alpha:T, delta:T",
                          .doc = "Subtracts alpha times delta from a variable.",
                          .sparse = false});
  AddUpdateOps(registry, {.name = "Momentum",
                          .slots = {"accum"},
                          .inputs = "lr:T, grad:T, momentum:T",
                          .doc = "One step of gradient descent with momentum.",
                          .flag = "use_nesterov:bool=False"});
  AddUpdateOps(registry,
               {.name = "KerasMomentum",
                .slots = {"accum"},
                .inputs = "lr:T, grad:T, momentum:T",
                .doc = "One step with momentum, the learning rate being part of the velocity.",
                .flag = "use_nesterov:bool=False",
                .references = false});
}

}  // namespace sextant

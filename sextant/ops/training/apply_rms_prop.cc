#include "sextant/ops/training/apply_rms_prop.h"

#include "sextant/ops/training/update_op.h"

namespace sextant {

Operation ResourceApplyRMSProp(Output var, Output ms, Output mom, Output lr, Output rho,
                               Output momentum, Output epsilon, Output grad) {
  return BuildUpdate("ResourceApplyRMSProp", {var, ms, mom, lr, rho, momentum, epsilon, grad});
}
Operation ResourceSparseApplyRMSProp(Output var, Output ms, Output mom, Output lr, Output rho,
                                     Output momentum, Output epsilon, Output grad, Output indices) {
  return BuildUpdate("ResourceSparseApplyRMSProp",
                     {var, ms, mom, lr, rho, momentum, epsilon, grad, indices});
}
Operation ResourceApplyCenteredRMSProp(Output var, Output mg, Output ms, Output mom, Output lr,
                                       Output rho, Output momentum, Output epsilon, Output grad) {
  return BuildUpdate("ResourceApplyCenteredRMSProp",
                     {var, mg, ms, mom, lr, rho, momentum, epsilon, grad});
}
Operation ResourceSparseApplyCenteredRMSProp(Output var, Output mg, Output ms, Output mom,
                                             Output lr, Output rho, Output momentum, Output epsilon,
                                             Output grad, Output indices) {
  return BuildUpdate("ResourceSparseApplyCenteredRMSProp",
                     {var, mg, ms, mom, lr, rho, momentum, epsilon, grad, indices});
}

void RegisterApplyRmsProp(OpRegistry& registry) {
  AddUpdateOps(registry, {.name = "RMSProp",
                          .slots = {"ms", "mom"},
                          .inputs = "lr:T, rho:T, momentum:T, epsilon:T, grad:T",
                          .doc = "One step of RMSProp."});
  AddUpdateOps(registry, {.name = "CenteredRMSProp",
                          .slots = {"mg", "ms", "mom"},
                          .inputs = "lr:T, rho:T, momentum:T, epsilon:T, grad:T",
                          .doc = "One step of RMSProp by the estimated variance of the gradient."});
}

}  // namespace sextant

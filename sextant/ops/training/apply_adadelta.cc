#include "sextant/ops/training/apply_adadelta.h"

#include "sextant/ops/training/update_op.h"

namespace sextant {

Operation ResourceApplyAdadelta(Output var, Output accum, Output accum_update, Output lr,
                                Output rho, Output epsilon, Output grad) {
  return BuildUpdate("ResourceApplyAdadelta", {var, accum, accum_update, lr, rho, epsilon, grad});
}
Operation ResourceSparseApplyAdadelta(Output var, Output accum, Output accum_update, Output lr,
                                      Output rho, Output epsilon, Output grad, Output indices) {
  return BuildUpdate("ResourceSparseApplyAdadelta",
                     {var, accum, accum_update, lr, rho, epsilon, grad, indices});
}

void RegisterApplyAdadelta(OpRegistry& registry) {
  AddUpdateOps(registry, {.name = "Adadelta",
                          .slots = {"accum", "accum_update"},
                          .inputs = "lr:T, rho:T, epsilon:T, grad:T",
                          .doc = "One step of Adadelta."});
}

}  // namespace sextant

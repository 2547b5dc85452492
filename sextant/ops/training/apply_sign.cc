#include "sextant/ops/training/apply_sign.h"

#include "sextant/ops/training/update_op.h"

namespace sextant {

Operation ResourceApplyAddSign(Output var, Output m, Output lr, Output alpha, Output sign_decay,
                               Output beta, Output grad) {
  return BuildUpdate("ResourceApplyAddSign", {var, m, lr, alpha, sign_decay, beta, grad});
}
Operation ResourceApplyPowerSign(Output var, Output m, Output lr, Output logbase, Output sign_decay,
                                 Output beta, Output grad) {
  return BuildUpdate("ResourceApplyPowerSign", {var, m, lr, logbase, sign_decay, beta, grad});
}

void RegisterApplySign(OpRegistry& registry) {
  AddUpdateOps(registry, {.name = "AddSign",
                          .slots = {"m"},
                          .inputs = "lr:T, alpha:T, sign_decay:T, beta:T, grad:T",
                          .doc = "One step of AddSign.",
                          .sparse = false});
  AddUpdateOps(registry, {.name = "PowerSign",
                          .slots = {"m"},
                          .inputs = "lr:T, logbase:T, sign_decay:T, beta:T, grad:T",
                          .doc = "One step of PowerSign.",
                          .sparse = false});
}

}  // namespace sextant

#include "sextant/ops/training/apply_proximal.h"

#include "sextant/ops/training/update_op.h"

namespace sextant {

Operation ResourceApplyProximalGradientDescent(Output var, Output alpha, Output l1, Output l2,
                                               Output delta) {
  return BuildUpdate("ResourceApplyProximalGradientDescent", {var, alpha, l1, l2, delta});
}
Operation ResourceSparseApplyProximalGradientDescent(Output var, Output alpha, Output l1, Output l2,
                                                     Output grad, Output indices) {
  return BuildUpdate("ResourceSparseApplyProximalGradientDescent",
                     {var, alpha, l1, l2, grad, indices});
}
Operation ResourceApplyProximalAdagrad(Output var, Output accum, Output lr, Output l1, Output l2,
                                       Output grad) {
  return BuildUpdate("ResourceApplyProximalAdagrad", {var, accum, lr, l1, l2, grad});
}
Operation ResourceSparseApplyProximalAdagrad(Output var, Output accum, Output lr, Output l1,
                                             Output l2, Output grad, Output indices) {
  return BuildUpdate("ResourceSparseApplyProximalAdagrad", {var, accum, lr, l1, l2, grad, indices});
}

void RegisterApplyProximal(OpRegistry& registry) {
  AddUpdateOps(registry,
               {.name = "ProximalGradientDescent",
                .slots = {},
                .inputs = "alpha:T, l1:T, l2:T, delta:T",
                .doc = "One step of gradient descent, then shrinking by the penalties l1 and l2."});
  AddUpdateOps(registry,
               {.name = "ProximalAdagrad",
                .slots = {"accum"},
                .inputs = "lr:T, l1:T, l2:T, grad:T",
                .doc = "One step of Adagrad, then shrinking by the penalties l1 and l2."});
}

}  // namespace sextant

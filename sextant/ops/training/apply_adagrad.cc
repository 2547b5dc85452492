#include "sextant/ops/training/apply_adagrad.h"

#include "sextant/ops/training/update_op.h"

namespace sextant {

Operation ResourceApplyAdagrad(Output var, Output accum, Output lr, Output grad,
                               const ApplyAdagradOptions& options) {
  return BuildUpdate("ResourceApplyAdagrad", {var, accum, lr, grad}, "update_slots",
                     options.update_slots);
}
Operation ResourceSparseApplyAdagrad(Output var, Output accum, Output lr, Output grad,
                                     Output indices, const ApplyAdagradOptions& options) {
  return BuildUpdate("ResourceSparseApplyAdagrad", {var, accum, lr, grad, indices}, "update_slots",
                     options.update_slots);
}
Operation ResourceApplyAdagradV2(Output var, Output accum, Output lr, Output epsilon, Output grad,
                                 const ApplyAdagradOptions& options) {
  return BuildUpdate("ResourceApplyAdagradV2", {var, accum, lr, epsilon, grad}, "update_slots",
                     options.update_slots);
}
Operation ResourceSparseApplyAdagradV2(Output var, Output accum, Output lr, Output epsilon,
                                       Output grad, Output indices,
                                       const ApplyAdagradOptions& options) {
  return BuildUpdate("ResourceSparseApplyAdagradV2", {var, accum, lr, epsilon, grad, indices},
                     "update_slots", options.update_slots);
}
Operation ResourceApplyAdagradDA(Output var, Output gradient_accumulator,
                                 Output gradient_squared_accumulator, Output grad, Output lr,
                                 Output l1, Output l2, Output global_step) {
  return BuildUpdate(
      "ResourceApplyAdagradDA",
      {var, gradient_accumulator, gradient_squared_accumulator, grad, lr, l1, l2, global_step});
}
Operation ResourceSparseApplyAdagradDA(Output var, Output gradient_accumulator,
                                       Output gradient_squared_accumulator, Output grad,
                                       Output indices, Output lr, Output l1, Output l2,
                                       Output global_step) {
  return BuildUpdate("ResourceSparseApplyAdagradDA",
                     {var, gradient_accumulator, gradient_squared_accumulator, grad, indices, lr,
                      l1, l2, global_step});
}

void RegisterApplyAdagrad(OpRegistry& registry) {
  AddUpdateOps(registry, {.name = "Adagrad",
                          .slots = {"accum"},
                          .inputs = "lr:T, grad:T",
                          .doc = "One step of Adagrad.",
                          .flag = "update_slots:bool=True"});
  AddUpdateOps(registry, {.name = "AdagradV2",
                          .slots = {"accum"},
                          .inputs = "lr:T, epsilon:T, grad:T",
                          .doc = "One step of Adagrad with a small number in the denominator.",
                          .flag = "update_slots:bool=True"});
  AddUpdateOps(registry,
               {.name = "AdagradDA",
                .slots = {"gradient_accumulator", "gradient_squared_accumulator"},
                .inputs = "grad:T, lr:T, l1:T, l2:T, global_step:int64",
                .doc = "One step of Adagrad by dual averaging, with penalties l1 and l2."});
}

}  // namespace sextant

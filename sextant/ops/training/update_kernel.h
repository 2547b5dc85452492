// The kernels of the ops that take one optimizer step, made from its rule.
#pragma once

#include <string_view>
#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/ops/training/update_rule.h"

namespace sextant {

// Registers ResourceApply<name> and ResourceSparseApply<name> for the rules and their types.
void AddUpdateKernels(KernelRegistry& registry, const std::vector<UpdateRule>& rules);

// Puts the scalar at input "index", called "name", into the task. Throws INVALID_ARGUMENT when it
// is not a scalar.
void SetScalar(KernelContext& ctx, int index, std::string_view name, int position,
               UpdateTask* task);
// Throws INVALID_ARGUMENT when the rule does not accept the scalars of the task.
void CheckScalars(const UpdateRule& rule, DType dtype, int count, bool sparse,
                  const UpdateTask& task);
// The part of a task on whole variables that begins "offset" elements in.
UpdateTask PartOf(const UpdateTask& task, int64_t offset, int64_t count, DType dtype);

// Puts the memory of the variables at inputs [first, first + count), which are locked, into the
// task, for changing in place. Throws INVALID_ARGUMENT, naming the variables, when their shapes
// differ.
void SetVariables(KernelContext& ctx, int first, int count, UpdateTask* task);
// Throws INVALID_ARGUMENT when the gradient's shape is not the variable's, which is locked.
void CheckGradient(KernelContext& ctx, int variable, const Tensor& grad);

}  // namespace sextant

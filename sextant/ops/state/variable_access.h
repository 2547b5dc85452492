// What kernels that work on variables share.
#pragma once

#include <mutex>

#include "sextant/device/kernel.h"
#include "sextant/device/variable.h"

namespace sextant {

// The variable whose handle is input i. Throws INVALID_ARGUMENT when it is no handle of a variable.
VariableResource& VariableAt(KernelContext& ctx, int i);
// The same, holding elements of "dtype", or INVALID_ARGUMENT.
VariableResource& VariableAt(KernelContext& ctx, int i, DType dtype);
// A variable's value, sharing its buffer.
Tensor ReadVariableAt(KernelContext& ctx, int i, DType dtype);

}  // namespace sextant

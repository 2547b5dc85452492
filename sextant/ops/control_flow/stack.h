// StackV2, StackPushV2, StackPopV2, StackCloseV2: stacks of tensors, as the gradients of imported
// v1 loops use them. New graphs use TensorList.
#pragma once

#include "sextant/graph/output.h"

namespace sextant {

// A stack for this run; max_size < 0 means no limit.
Output StackV2(Output max_size, DType elem_type);
Output StackPushV2(Output handle, Output elem);
Output StackPopV2(Output handle, DType elem_type);

}  // namespace sextant

// Constant folding: runs one node while a Plan is made, because its inputs are known.
#pragma once

#include <vector>

#include "sextant/device/kernel_registry.h"
#include "sextant/graph/graph.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

// The outputs. Throws what the kernel throws.
std::vector<Tensor> ComputeAhead(const Node& node, const KernelDef& def, std::vector<Tensor> inputs,
                                 Allocator* allocator);

}  // namespace sextant

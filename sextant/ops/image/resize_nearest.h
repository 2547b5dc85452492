// The kernels of ResizeNearestNeighbor and its gradient, which move elements of any type.
#pragma once

#include "sextant/device/kernel_registry.h"

namespace sextant {

void RegisterResizeNearestCpu(KernelRegistry& registry);

}  // namespace sextant

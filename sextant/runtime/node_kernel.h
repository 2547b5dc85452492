// Where a node runs and which kernel computes it there.
#pragma once

#include <span>

#include "sextant/device/device.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/graph/graph.h"

namespace sextant {

// The device the node is placed on, the first one if it names none of them.
const Device& FindDevice(const Node& node, std::span<Device* const> devices);

// Throws NOT_FOUND, naming the node and its types, when the op or a kernel for it is not
// registered.
const KernelDef& FindKernel(const Node& node, const Device& device);

}  // namespace sextant

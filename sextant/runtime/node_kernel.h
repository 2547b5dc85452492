// Where a node runs and which kernel computes it there.
#pragma once

#include <memory>
#include <span>

#include "sextant/base/error.h"
#include "sextant/device/device.h"
#include "sextant/device/kernel_registry.h"
#include "sextant/graph/graph.h"

namespace sextant {

// The device the node is placed on, the first one if it names none of them.
const Device& FindDevice(const Node& node, std::span<Device* const> devices);

// Throws NOT_FOUND, naming the node and its types, when the op or a kernel for it is not
// registered.
const KernelDef& FindKernel(const Node& node, const Device& device);

// Whatever the constructor throws leaves as an Error that names the node.
std::unique_ptr<Kernel> CreateKernel(const KernelDef& kernel, const Node& node);

// Throws INTERNAL, naming the node, for an error of its kernel that says OK.
[[noreturn]] void ThrowOkError(const Node& node, const Error& error);

}  // namespace sextant

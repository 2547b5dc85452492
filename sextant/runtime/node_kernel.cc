#include "sextant/runtime/node_kernel.h"

#include "sextant/base/error.h"
#include "sextant/graph/unknown_op.h"

namespace sextant {

const Device& FindDevice(const Node& node, std::span<Device* const> devices) {
  for (const Device* device : devices) {
    if (device->name() == node.device()) return *device;
  }
  return *devices[0];
}

const KernelDef& FindKernel(const Node& node, const Device& device) {
  if (node.op().unknown()) {
    throw UnknownOpError(node);
  }
  if (const KernelDef* kernel = KernelRegistry::Global().Find(node, device.type())) return *kernel;
  std::string types;
  for (const AttrDef& attr : node.op().attrs()) {
    if (attr.type == "type") {
      types += fmt::format(" {}={}", attr.name, DTypeName(node.attr<DType>(attr.name)));
    }
  }
  throw NotFound("[{} {}] no {} kernel is registered for{}", node.type(), node.name(),
                 device.type(), types.empty() ? " it" : types);
}

}  // namespace sextant

#include "sextant/runtime/node_kernel.h"

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

std::unique_ptr<Kernel> CreateKernel(const KernelDef& kernel, const Node& node) {
  try {
    return kernel.Create(node);
  } catch (const Error& e) {
    if (e.code() == Code::kOk) ThrowOkError(node, e);
    throw;
  } catch (...) {
    throw Internal("[{} {}] the kernel's constructor threw what is not a std::exception",
                   node.type(), node.name());
  }
}

void ThrowOkError(const Node& node, const Error& error) {
  const std::string name = fmt::format("[{} {}] ", node.type(), node.name());
  std::string_view message = error.message();
  if (message.starts_with(name)) message.remove_prefix(name.size());
  throw Internal("{}the kernel threw an Error with the code OK: {}", name, message);
}

}  // namespace sextant

#include "sextant/ops/state/variable_access.h"

#include <typeinfo>

#include "sextant/base/error.h"

namespace sextant {

VariableResource& VariableAt(KernelContext& ctx, int i) {
  const auto& handle = ctx.input(i).scalar<ResourceHandle>();
  Resource* resource = handle.resource.get();
  if (resource == nullptr || typeid(*resource) != typeid(VariableResource)) [[unlikely]] {
    throw InvalidArgument("resource handle '{}' does not name a variable", handle.name);
  }
  return static_cast<VariableResource&>(*resource);
}

VariableResource& VariableAt(KernelContext& ctx, int i, DType dtype) {
  VariableResource& variable = VariableAt(ctx, i);
  if (variable.dtype() != dtype) [[unlikely]] {
    throw InvalidArgument("variable '{}' holds {}, not {}", variable.name(),
                          DTypeName(variable.dtype()), DTypeName(dtype));
  }
  return variable;
}

Tensor ReadVariableAt(KernelContext& ctx, int i, DType dtype) {
  return VariableAt(ctx, i, dtype).Read();
}

}  // namespace sextant

#include "sextant/device/variable.h"

#include "sextant/base/error.h"

namespace sextant {

Tensor& VariableResource::mutable_value(Allocator& allocator) {
  if (!value().unique()) value_ = value_.Clone(allocator);
  ++version_;
  return value_;
}

void VariableResource::ThrowUninitialized() const {
  throw FailedPrecondition("variable '{}' has no value: run its initializer or restore it first",
                           name_);
}

}  // namespace sextant

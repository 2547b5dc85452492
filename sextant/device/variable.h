// VariableResource: the resource behind VarHandleOp.
//
// Readers share the buffer; a writer that finds it shared replaces it by a changed copy, so what
// was read stays as it was. All access is under mutex().
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "sextant/tensor/handle.h"
#include "sextant/tensor/tensor.h"

namespace sextant {

class VariableResource final : public Resource {
 public:
  static constexpr const char* kTypeName = "Variable";
  VariableResource(std::string name, DType dtype, PartialShape shape)
      : name_(std::move(name)), dtype_(dtype), shape_(std::move(shape)) {}

  const std::string& name() const { return name_; }
  DType dtype() const { return dtype_; }
  const PartialShape& shape() const { return shape_; }  // as declared
  std::mutex& mutex() { return mutex_; }

  // REQUIRES: mutex() held, for all below.
  bool initialized() const { return value_.valid(); }
  // Throws FAILED_PRECONDITION, naming the variable, when it has no value.
  const Tensor& value() const {
    if (!initialized()) [[unlikely]]
      ThrowUninitialized();
    return value_;
  }
  // The value for changing in place: a copy is made first when others share it. Bumps version().
  Tensor& mutable_value(Allocator& allocator = HostAllocator());
  // REQUIRES: the value is not transient.
  void set_value(Tensor value) {
    value_ = std::move(value);
    ++version_;
  }
  void reset() { set_value(Tensor()); }
  int64_t version() const { return version_; }

  // The value, taken under the lock.
  Tensor Read() {
    std::lock_guard lock(mutex_);
    return value();
  }
  std::string DebugString() const override { return "variable '" + name_ + "'"; }

 private:
  [[noreturn]] void ThrowUninitialized() const;

  const std::string name_;
  const DType dtype_;
  const PartialShape shape_;
  std::mutex mutex_;
  Tensor value_;
  int64_t version_ = 0;
};

}  // namespace sextant

// The two element types that hold objects instead of numbers: ResourceHandle names a resource of a
// session (a variable, a table), Variant holds any value that travels through a graph (a tensor
// list).
#pragma once

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/tensor/dtype.h"
#include "sextant/tensor/shape.h"

#pragma GCC visibility push(default)

namespace sextant {

// Base of everything a ResourceHandle can point to.
class SEXTANT_API Resource {
 public:
  virtual ~Resource() = default;
  virtual std::string DebugString() const { return "resource"; }
};

struct SEXTANT_API ResourceHandle {
  std::string device;     // that holds the resource
  std::string container;  // a namespace of resources
  std::string name;       // in its container
  std::string type_name;  // e.g. "Variable"; for messages and protos
  // The object itself where the handle was made by a running graph; null in a handle read from a
  // proto.
  std::shared_ptr<Resource> resource;
};

// A value of any copyable type. Copies share the value, which is immutable once shared.
class SEXTANT_API Variant {
 public:
  Variant() = default;
  template <typename T>  // holds the value
  static Variant Of(T value) {
    Variant v;
    v.value_ = std::make_shared<T>(std::move(value));
    v.type_ = &typeid(T);
    return v;
  }
  bool empty() const { return value_ == nullptr; }
  // The value, or null when it is of another type.
  template <typename T>
  const T* Get() const {
    return type_ && *type_ == typeid(T) ? static_cast<const T*>(value_.get()) : nullptr;
  }
  // For changing in place: the value when this Variant alone holds it, else null.
  template <typename T>
  T* GetIfUnique() {
    return type_ && *type_ == typeid(T) && value_.use_count() == 1 ? static_cast<T*>(value_.get())
                                                                   : nullptr;
  }
  bool SharesValueWith(const Variant& other) const { return value_ == other.value_; }
  const char* type_name() const { return type_ ? type_->name() : "empty"; }

 private:
  std::shared_ptr<void> value_;
  const std::type_info* type_ = nullptr;
};

}  // namespace sextant

#pragma GCC visibility pop

// ResourceManager: the named objects of a session that live from run to run. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/base/error.h"
#include "sextant/tensor/handle.h"

namespace sextant {

class ResourceManager {
 public:
  // The resource, made by "make" when it is not there. Throws INVALID_ARGUMENT when one of another
  // type has the name.
  template <typename T>
  std::shared_ptr<T> LookupOrCreate(std::string_view container, std::string_view name,
                                    const std::function<std::shared_ptr<T>()>& make) {
    auto resource =
        LookupOrCreateAny(container, name, [&] { return std::shared_ptr<Resource>(make()); });
    auto typed = std::dynamic_pointer_cast<T>(resource);
    if (!typed) ThrowWrongType(container, name, *resource);
    return typed;
  }
  // Null when there is none of this name and type.
  template <typename T>
  std::shared_ptr<T> Lookup(std::string_view container, std::string_view name) const {
    return std::dynamic_pointer_cast<T>(LookupAny(container, name));
  }
  // Whether there was one.
  bool Delete(std::string_view container, std::string_view name);
  void Clear();
  // (container, name, resource) of all, sorted.
  std::vector<std::pair<std::pair<std::string, std::string>, std::shared_ptr<Resource>>> All()
      const;

 private:
  std::shared_ptr<Resource> LookupOrCreateAny(
      std::string_view container, std::string_view name,
      const std::function<std::shared_ptr<Resource>()>& make);
  std::shared_ptr<Resource> LookupAny(std::string_view container, std::string_view name) const;
  [[noreturn]] static void ThrowWrongType(std::string_view container, std::string_view name,
                                          const Resource& found);

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<Resource>> resources_;
};

// The resource of type T behind a handle tensor. Throws INVALID_ARGUMENT on an empty handle or
// another type.
template <typename T>
std::shared_ptr<T> ResourceOf(const ResourceHandle& handle) {
  auto typed = std::dynamic_pointer_cast<T>(handle.resource);
  if (!typed) {
    throw InvalidArgument("resource handle '{}' does not name a {}", handle.name, T::kTypeName);
  }
  return typed;
}

}  // namespace sextant

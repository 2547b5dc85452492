// ResourceManager: the named objects of a session that live from run to run. Thread-safe.
//
// A session in a cluster shares the variables of its task, and what has a shared name, with the
// other sessions there; iterators, tables, queues and random streams without one are its own. Its
// manager then has that of the task behind it. In a session without a cluster both are one.
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
  // "shared" outlives it. Null: all is its own.
  explicit ResourceManager(ResourceManager* shared = nullptr) : shared_(shared) {}

  // Of the resources that all sessions of the task share.
  ResourceManager& shared() { return shared_ != nullptr ? *shared_ : *this; }

  // The resource, made by "make" when it is not there; one that this session does not share. Throws
  // INVALID_ARGUMENT when one of another type has the name.
  template <typename T>
  std::shared_ptr<T> LookupOrCreate(std::string_view container, std::string_view name,
                                    const std::function<std::shared_ptr<T>()>& make) {
    auto resource =
        LookupOrCreateAny(container, name, [&] { return std::shared_ptr<Resource>(make()); });
    auto typed = std::dynamic_pointer_cast<T>(resource);
    if (!typed) ThrowWrongType(container, name, *resource);
    return typed;
  }
  // Null when there is none of this name and type. Those of the session come first.
  template <typename T>
  std::shared_ptr<T> Lookup(std::string_view container, std::string_view name) const {
    return std::dynamic_pointer_cast<T>(LookupAny(container, name));
  }
  // Whether there was one.
  bool Delete(std::string_view container, std::string_view name);
  void Clear();  // those of the session
  // (container, name, resource) of all that Lookup finds, sorted.
  std::vector<std::pair<std::pair<std::string, std::string>, std::shared_ptr<Resource>>> All()
      const;

 private:
  std::shared_ptr<Resource> LookupOrCreateAny(
      std::string_view container, std::string_view name,
      const std::function<std::shared_ptr<Resource>()>& make);
  std::shared_ptr<Resource> LookupAny(std::string_view container, std::string_view name) const;
  [[noreturn]] static void ThrowWrongType(std::string_view container, std::string_view name,
                                          const Resource& found);

  ResourceManager* const shared_;
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

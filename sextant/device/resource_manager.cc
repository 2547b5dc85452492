#include "sextant/device/resource_manager.h"

namespace sextant {

std::shared_ptr<Resource> ResourceManager::LookupOrCreateAny(
    std::string_view container, std::string_view name,
    const std::function<std::shared_ptr<Resource>()>& make) {
  std::lock_guard lock(mutex_);
  auto& resource = resources_[{std::string(container), std::string(name)}];
  if (!resource) {
    try {
      resource = make();
    } catch (...) {
      resources_.erase({std::string(container), std::string(name)});
      throw;
    }
  }
  return resource;
}

std::shared_ptr<Resource> ResourceManager::LookupAny(std::string_view container,
                                                     std::string_view name) const {
  {
    std::lock_guard lock(mutex_);
    const auto found = resources_.find({std::string(container), std::string(name)});
    if (found != resources_.end()) return found->second;
  }
  return shared_ != nullptr ? shared_->LookupAny(container, name) : nullptr;
}

bool ResourceManager::Delete(std::string_view container, std::string_view name) {
  std::shared_ptr<Resource> doomed;  // destroyed after the lock is released
  {
    std::lock_guard lock(mutex_);
    const auto found = resources_.find({std::string(container), std::string(name)});
    if (found != resources_.end()) {
      doomed = std::move(found->second);
      resources_.erase(found);
      return true;
    }
  }
  return shared_ != nullptr && shared_->Delete(container, name);
}

void ResourceManager::Clear() {
  decltype(resources_) doomed;  // destroyed after the lock is released
  std::lock_guard lock(mutex_);
  doomed.swap(resources_);
}

std::vector<std::pair<std::pair<std::string, std::string>, std::shared_ptr<Resource>>>
ResourceManager::All() const {
  decltype(resources_) all;
  {
    std::lock_guard lock(mutex_);
    all = resources_;
  }
  if (shared_ != nullptr) {
    for (auto& entry : shared_->All()) all.insert(std::move(entry));
  }
  return {all.begin(), all.end()};
}

void ResourceManager::ThrowWrongType(std::string_view container, std::string_view name,
                                     const Resource& found) {
  throw InvalidArgument("resource '{}' of container '{}' is a {}, not what was asked for", name,
                        container, found.DebugString());
}

}  // namespace sextant

#include "sextant/graph/op_registry.h"

#include <algorithm>

#include "sextant/graph/function.h"

namespace sextant {

OpRegistry& OpRegistry::Global() {
  static OpRegistry* registry = [] {
    auto* r = new OpRegistry;  // never destroyed: graphs may outlive main
    RegisterFunctionOps(*r);
    RegisterAllOps(*r);
    return r;
  }();
  return *registry;
}

void OpRegistry::Add(OpDef def) {
  if (def.doc().empty()) throw InvalidArgument("op {} has no documentation", def.name());
  std::unique_lock lock(mutex_);
  auto& entry = ops_[def.name()];
  if (entry) throw AlreadyExists("op {} is registered already", def.name());
  entry = std::make_unique<OpDef>(std::move(def));
}

const OpDef* OpRegistry::Find(std::string_view name) const {
  std::shared_lock lock(mutex_);
  const auto it = ops_.find(std::string(name));
  return it == ops_.end() ? nullptr : it->second.get();
}

std::vector<const OpDef*> OpRegistry::All() const {
  std::vector<const OpDef*> all;
  {
    std::shared_lock lock(mutex_);
    for (const auto& [name, def] : ops_) all.push_back(def.get());
  }
  std::sort(all.begin(), all.end(),
            [](const OpDef* a, const OpDef* b) { return a->name() < b->name(); });
  return all;
}

}  // namespace sextant

#include "sextant/device/resource_manager.h"
#include "sextant/ops/dataset/iterator_resource.h"
#include "sextant/ops/dataset/iterator_states.h"

namespace sextant::data {

std::map<std::string, std::string> SaveIteratorStates(ResourceManager& session) {
  std::map<std::string, std::string> states;
  for (const auto& [key, resource] : session.All()) {
    auto* iterator = dynamic_cast<IteratorResource*>(resource.get());
    if (iterator == nullptr) continue;
    if (auto state = iterator->Save()) states[key.second] = std::move(*state);
  }
  return states;
}

void RestoreIteratorStates(const std::map<std::string, std::string>& states,
                           ResourceManager& session, bool or_begin_anew) {
  for (const auto& [key, resource] : session.All()) {
    auto* iterator = dynamic_cast<IteratorResource*>(resource.get());
    if (iterator != nullptr && !states.contains(key.second)) iterator->Rewind();
  }
  for (const auto& [name, state] : states) {
    auto iterator = session.Lookup<IteratorResource>(IteratorResource::kContainer, name);
    if (!iterator) {
      iterator = session.LookupOrCreate<IteratorResource>(
          IteratorResource::kContainer, name, [] { return std::make_shared<IteratorResource>(); });
    }
    iterator->Restore(state, or_begin_anew);
  }
}

}  // namespace sextant::data

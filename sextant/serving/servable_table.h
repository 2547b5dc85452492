// ServableTable: what is available, as requests look it up. Immutable; the manager makes a new one
// for every change.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sextant/serving/model_manager.h"

namespace sextant::serving {

struct ModelView {
  ModelConfig config;
  std::map<int64_t, std::shared_ptr<const Servable>> versions;  // available

  // The one chosen; null when it is not available.
  std::shared_ptr<const Servable> Choose(const VersionChoice& choice) const;
};

using ServableTable = std::map<std::string, ModelView, std::less<>>;

}  // namespace sextant::serving

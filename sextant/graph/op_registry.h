// OpRegistry: OpDefs by name. Thread-safe; an OpDef, once added, stays where it is.
#pragma once

#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/graph/op_def.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API OpRegistry {
 public:
  // The registry all graphs use. Its first use registers the ops of the library (RegisterAllOps).
  static OpRegistry& Global();

  // Throws ALREADY_EXISTS on a name in use, INVALID_ARGUMENT on a definition without doc.
  void Add(OpDef def);
  const OpDef* Find(std::string_view name) const;
  // All definitions, sorted by name.
  std::vector<const OpDef*> All() const;

 private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, std::unique_ptr<OpDef>> ops_;
};

// Registers every family of the library; generated from the families that the build names.
void RegisterAllOps(OpRegistry& registry);

}  // namespace sextant

#pragma GCC visibility pop

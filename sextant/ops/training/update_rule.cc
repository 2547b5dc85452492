#include "sextant/ops/training/update_rule.h"

namespace sextant {

UpdateLoop UpdateRule::loop(DType dtype) const {
  for (const auto& [type, loop] : loops) {
    if (type == dtype) return loop;
  }
  return nullptr;
}

const UpdateRule* FindUpdateRule(std::string_view name) {
  for (const auto* family : {&SgdRules(), &ProximalRules(), &AdagradRules(), &AdadeltaRules(),
                             &AdamRules(), &RmsPropRules(), &FtrlRules(), &SignRules()}) {
    for (const UpdateRule& rule : *family) {
      if (rule.name == name) return &rule;
    }
  }
  return nullptr;
}

}  // namespace sextant

#include "sextant/ops/training/update_rule.h"

namespace sextant {

UpdateLoop UpdateRule::loop(DType dtype) const {
  for (const auto& [type, loop] : loops) {
    if (type == dtype) return loop;
  }
  return nullptr;
}

std::vector<UpdateRule> WithFloatLoops(UpdateLoop (*float_loop)(int index),
                                       std::vector<UpdateRule> rules) {
  for (size_t i = 0; i < rules.size(); ++i) {
    auto& loops = rules[i].loops;
    loops.insert(loops.begin(), {DType::kFloat, float_loop(static_cast<int>(i))});
  }
  return rules;
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

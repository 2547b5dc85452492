#include "sextant/runtime/passes/pass.h"

namespace sextant {

const std::vector<Pass>& OptimizationPasses() {
  static const std::vector<Pass>* passes = new std::vector<Pass>{
      {"merge_common", &OptimizerOptions::merge_common, MergeCommonSubexpressions},
      {"fuse_elementwise", &OptimizerOptions::fuse_elementwise, FuseElementwise},
  };
  return *passes;
}

}  // namespace sextant

// Which nodes hold variables.
#pragma once

#include "sextant/graph/graph.h"

namespace sextant {

inline bool IsVariable(const Node& node) {
  return node.type() == "VarHandleOp" || node.type() == "VariableV2" || node.type() == "Variable";
}

}  // namespace sextant

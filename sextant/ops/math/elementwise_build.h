// Builders of ops that have only tensor inputs and no attributes to set.
#pragma once

#include "sextant/graph/op_builder.h"

namespace sextant {

inline Output BuildUnary(const char* op, Output x) { return OpBuilder(op).Input(x).Build(); }
inline Output BuildBinary(const char* op, Output x, Output y) {
  return OpBuilder(op).Input(x).Input(y).Build();
}

}  // namespace sextant

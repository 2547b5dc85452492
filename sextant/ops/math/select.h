// SelectV2, Select: choosing between two tensors, element by element.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/math/scalar_operand.h"

#pragma GCC visibility push(default)

namespace sextant {

// t where the condition holds, else e, all three broadcast together.
Output SelectV2(Output condition, Output t, Output e);
// The same for t and e of one shape; a condition that is a vector chooses whole rows of the first
// dimension.
Output Select(Output condition, Output t, Output e);

// The same with a number for t or e.
inline Output SelectV2(Output condition, Output t, ScalarOperand e) {
  return SelectV2(condition, t, ScalarLike(e, t));
}
inline Output SelectV2(Output condition, ScalarOperand t, Output e) {
  return SelectV2(condition, ScalarLike(t, e), e);
}

}  // namespace sextant

#pragma GCC visibility pop

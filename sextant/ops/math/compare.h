// Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, ApproximateEqual, LogicalAnd, LogicalOr,
// LogicalXor: comparisons and logic of two tensors, element by element with broadcasting; the
// results are bool.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/math/scalar_operand.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API EqualOptions {
  // When false, shapes that cannot be broadcast give a scalar (false for Equal, true for NotEqual)
  // instead of an error.
  bool incompatible_shape_error = true;
};
Output Equal(Output x, Output y, const EqualOptions& options = {});
Output NotEqual(Output x, Output y, const EqualOptions& options = {});
Output Less(Output x, Output y);
Output LessEqual(Output x, Output y);
Output Greater(Output x, Output y);
Output GreaterEqual(Output x, Output y);

struct SEXTANT_API ApproximateEqualOptions {
  float tolerance = 1e-5f;
};
// |x - y| < tolerance, for tensors of one shape.
Output ApproximateEqual(Output x, Output y, const ApproximateEqualOptions& options = {});

Output LogicalAnd(Output x, Output y);
Output LogicalOr(Output x, Output y);
// True where exactly one is.
Output LogicalXor(Output x, Output y);

// The same with a number for one of the two; bool for the logical ones.
inline Output Equal(Output x, ScalarOperand y, const EqualOptions& options = {}) {
  return Equal(x, ScalarLike(y, x), options);
}
inline Output Equal(ScalarOperand x, Output y, const EqualOptions& options = {}) {
  return Equal(ScalarLike(x, y), y, options);
}
inline Output NotEqual(Output x, ScalarOperand y, const EqualOptions& options = {}) {
  return NotEqual(x, ScalarLike(y, x), options);
}
inline Output NotEqual(ScalarOperand x, Output y, const EqualOptions& options = {}) {
  return NotEqual(ScalarLike(x, y), y, options);
}
inline Output Less(Output x, ScalarOperand y) { return Less(x, ScalarLike(y, x)); }
inline Output Less(ScalarOperand x, Output y) { return Less(ScalarLike(x, y), y); }
inline Output LessEqual(Output x, ScalarOperand y) { return LessEqual(x, ScalarLike(y, x)); }
inline Output LessEqual(ScalarOperand x, Output y) { return LessEqual(ScalarLike(x, y), y); }
inline Output Greater(Output x, ScalarOperand y) { return Greater(x, ScalarLike(y, x)); }
inline Output Greater(ScalarOperand x, Output y) { return Greater(ScalarLike(x, y), y); }
inline Output GreaterEqual(Output x, ScalarOperand y) { return GreaterEqual(x, ScalarLike(y, x)); }
inline Output GreaterEqual(ScalarOperand x, Output y) { return GreaterEqual(ScalarLike(x, y), y); }
inline Output LogicalAnd(Output x, ScalarOperand y) { return LogicalAnd(x, ScalarLike(y, x)); }
inline Output LogicalAnd(ScalarOperand x, Output y) { return LogicalAnd(ScalarLike(x, y), y); }
inline Output LogicalOr(Output x, ScalarOperand y) { return LogicalOr(x, ScalarLike(y, x)); }
inline Output LogicalOr(ScalarOperand x, Output y) { return LogicalOr(ScalarLike(x, y), y); }
inline Output LogicalXor(Output x, ScalarOperand y) { return LogicalXor(x, ScalarLike(y, x)); }
inline Output LogicalXor(ScalarOperand x, Output y) { return LogicalXor(ScalarLike(x, y), y); }

}  // namespace sextant

#pragma GCC visibility pop

// Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual, ApproximateEqual, LogicalAnd, LogicalOr,
// LogicalXor: comparisons and logic of two tensors, element by element with broadcasting; the
// results are bool.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

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

}  // namespace sextant

#pragma GCC visibility pop

// Sin, Cos, Tan, their hyperbolic forms and inverses, Atan2: element by element; angles in radians.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/math/scalar_operand.h"

#pragma GCC visibility push(default)

namespace sextant {

Output Sin(Output x);
Output Cos(Output x);
Output Tan(Output x);
Output Asin(Output x);
Output Acos(Output x);
Output Atan(Output x);
Output Atan2(Output y, Output x);  // angle of the point (x, y), in [-pi, pi]; broadcasts
Output Sinh(Output x);
Output Cosh(Output x);
Output Tanh(Output x);
Output Asinh(Output x);
Output Acosh(Output x);
Output Atanh(Output x);

// The same with a number for one of the two.
inline Output Atan2(Output y, ScalarOperand x) { return Atan2(y, ScalarLike(x, y)); }
inline Output Atan2(ScalarOperand y, Output x) { return Atan2(ScalarLike(y, x), x); }

}  // namespace sextant

#pragma GCC visibility pop

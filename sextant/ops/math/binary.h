// Add, Sub, Mul, RealDiv, Pow, Maximum, Minimum and other arithmetic of two tensors, element by
// element with broadcasting; the operators on Output.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

Output Add(Output x, Output y);          // x + y; joins strings
Output Sub(Output x, Output y);          // x - y
Output Mul(Output x, Output y);          // x * y
Output RealDiv(Output x, Output y);      // x / y
Output Div(Output x, Output y);          // x / y; integers: the quotient cut towards zero
Output FloorDiv(Output x, Output y);     // floor(x / y)
Output FloorMod(Output x, Output y);     // x - floor(x / y) * y
Output Mod(Output x, Output y);          // x - trunc(x / y) * y
Output TruncateDiv(Output x, Output y);  // trunc(x / y)
Output TruncateMod(Output x, Output y);  // x - trunc(x / y) * y
Output Pow(Output x, Output y);          // x^y
Output Maximum(Output x, Output y);
Output Minimum(Output x, Output y);
Output SquaredDifference(Output x, Output y);  // (x - y)^2
Output Xdivy(Output x, Output y);              // x / y, but 0 where x = 0
Output Xlogy(Output x, Output y);              // x * log(y), but 0 where x = 0
Output Xlog1py(Output x, Output y);            // x * log(1 + y), but 0 where x = 0
Output DivNoNan(Output x, Output y);           // x / y, but 0 where y = 0
Output MulNoNan(Output x, Output y);           // x * y, but 0 where y = 0
Output NextAfter(Output x1, Output x2);        // the number next to x1 in the direction of x2

// A constant scalar of the element type of "like". Throws INVALID_ARGUMENT when that is not a
// number.
Output ScalarLike(double value, Output like);

// Quotients of integers are taken in floating point, as Python's are (see Div and FloorDiv).
Output operator+(Output x, Output y);
Output operator-(Output x, Output y);
Output operator*(Output x, Output y);
Output operator/(Output x, Output y);
Output operator-(Output x);
inline Output operator+(Output x, double y) { return x + ScalarLike(y, x); }
inline Output operator-(Output x, double y) { return x - ScalarLike(y, x); }
inline Output operator*(Output x, double y) { return x * ScalarLike(y, x); }
inline Output operator/(Output x, double y) { return x / ScalarLike(y, x); }
inline Output operator+(double x, Output y) { return ScalarLike(x, y) + y; }
inline Output operator-(double x, Output y) { return ScalarLike(x, y) - y; }
inline Output operator*(double x, Output y) { return ScalarLike(x, y) * y; }
inline Output operator/(double x, Output y) { return ScalarLike(x, y) / y; }

}  // namespace sextant

#pragma GCC visibility pop

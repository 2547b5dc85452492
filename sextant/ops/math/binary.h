// Add, Sub, Mul, RealDiv, Pow, Maximum, Minimum and other arithmetic of two tensors, element by
// element with broadcasting; the operators on Output.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/math/scalar_operand.h"

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

// The same with a number for one of the two.
inline Output Add(Output x, ScalarOperand y) { return Add(x, ScalarLike(y, x)); }
inline Output Add(ScalarOperand x, Output y) { return Add(ScalarLike(x, y), y); }
inline Output Sub(Output x, ScalarOperand y) { return Sub(x, ScalarLike(y, x)); }
inline Output Sub(ScalarOperand x, Output y) { return Sub(ScalarLike(x, y), y); }
inline Output Mul(Output x, ScalarOperand y) { return Mul(x, ScalarLike(y, x)); }
inline Output Mul(ScalarOperand x, Output y) { return Mul(ScalarLike(x, y), y); }
inline Output RealDiv(Output x, ScalarOperand y) { return RealDiv(x, ScalarLike(y, x)); }
inline Output RealDiv(ScalarOperand x, Output y) { return RealDiv(ScalarLike(x, y), y); }
inline Output Div(Output x, ScalarOperand y) { return Div(x, ScalarLike(y, x)); }
inline Output Div(ScalarOperand x, Output y) { return Div(ScalarLike(x, y), y); }
inline Output FloorDiv(Output x, ScalarOperand y) { return FloorDiv(x, ScalarLike(y, x)); }
inline Output FloorDiv(ScalarOperand x, Output y) { return FloorDiv(ScalarLike(x, y), y); }
inline Output FloorMod(Output x, ScalarOperand y) { return FloorMod(x, ScalarLike(y, x)); }
inline Output FloorMod(ScalarOperand x, Output y) { return FloorMod(ScalarLike(x, y), y); }
inline Output Mod(Output x, ScalarOperand y) { return Mod(x, ScalarLike(y, x)); }
inline Output Mod(ScalarOperand x, Output y) { return Mod(ScalarLike(x, y), y); }
inline Output TruncateDiv(Output x, ScalarOperand y) { return TruncateDiv(x, ScalarLike(y, x)); }
inline Output TruncateDiv(ScalarOperand x, Output y) { return TruncateDiv(ScalarLike(x, y), y); }
inline Output TruncateMod(Output x, ScalarOperand y) { return TruncateMod(x, ScalarLike(y, x)); }
inline Output TruncateMod(ScalarOperand x, Output y) { return TruncateMod(ScalarLike(x, y), y); }
inline Output Pow(Output x, ScalarOperand y) { return Pow(x, ScalarLike(y, x)); }
inline Output Pow(ScalarOperand x, Output y) { return Pow(ScalarLike(x, y), y); }
inline Output Maximum(Output x, ScalarOperand y) { return Maximum(x, ScalarLike(y, x)); }
inline Output Maximum(ScalarOperand x, Output y) { return Maximum(ScalarLike(x, y), y); }
inline Output Minimum(Output x, ScalarOperand y) { return Minimum(x, ScalarLike(y, x)); }
inline Output Minimum(ScalarOperand x, Output y) { return Minimum(ScalarLike(x, y), y); }
inline Output SquaredDifference(Output x, ScalarOperand y) {
  return SquaredDifference(x, ScalarLike(y, x));
}
inline Output SquaredDifference(ScalarOperand x, Output y) {
  return SquaredDifference(ScalarLike(x, y), y);
}
inline Output Xdivy(Output x, ScalarOperand y) { return Xdivy(x, ScalarLike(y, x)); }
inline Output Xdivy(ScalarOperand x, Output y) { return Xdivy(ScalarLike(x, y), y); }
inline Output Xlogy(Output x, ScalarOperand y) { return Xlogy(x, ScalarLike(y, x)); }
inline Output Xlogy(ScalarOperand x, Output y) { return Xlogy(ScalarLike(x, y), y); }
inline Output Xlog1py(Output x, ScalarOperand y) { return Xlog1py(x, ScalarLike(y, x)); }
inline Output Xlog1py(ScalarOperand x, Output y) { return Xlog1py(ScalarLike(x, y), y); }
inline Output DivNoNan(Output x, ScalarOperand y) { return DivNoNan(x, ScalarLike(y, x)); }
inline Output DivNoNan(ScalarOperand x, Output y) { return DivNoNan(ScalarLike(x, y), y); }
inline Output MulNoNan(Output x, ScalarOperand y) { return MulNoNan(x, ScalarLike(y, x)); }
inline Output MulNoNan(ScalarOperand x, Output y) { return MulNoNan(ScalarLike(x, y), y); }
inline Output NextAfter(Output x, ScalarOperand y) { return NextAfter(x, ScalarLike(y, x)); }
inline Output NextAfter(ScalarOperand x, Output y) { return NextAfter(ScalarLike(x, y), y); }

// Quotients of integers are taken in floating point, as Python's are (see Div and FloorDiv).
Output operator+(Output x, Output y);
Output operator-(Output x, Output y);
Output operator*(Output x, Output y);
Output operator/(Output x, Output y);
Output operator-(Output x);
inline Output operator+(Output x, ScalarOperand y) { return x + ScalarLike(y, x); }
inline Output operator-(Output x, ScalarOperand y) { return x - ScalarLike(y, x); }
inline Output operator*(Output x, ScalarOperand y) { return x * ScalarLike(y, x); }
inline Output operator/(Output x, ScalarOperand y) { return x / ScalarLike(y, x); }
inline Output operator+(ScalarOperand x, Output y) { return ScalarLike(x, y) + y; }
inline Output operator-(ScalarOperand x, Output y) { return ScalarLike(x, y) - y; }
inline Output operator*(ScalarOperand x, Output y) { return ScalarLike(x, y) * y; }
inline Output operator/(ScalarOperand x, Output y) { return ScalarLike(x, y) / y; }

}  // namespace sextant

#pragma GCC visibility pop

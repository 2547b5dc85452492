// Neg, Abs, Sign, Square, Sqrt, Exp, Log, Sigmoid, Floor, Round, IsNan and other functions of one
// tensor, element by element.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

Output Neg(Output x);         // -x
Output Abs(Output x);         // |x|
Output Sign(Output x);        // -1, 0 or 1
Output Square(Output x);      // x * x
Output Sqrt(Output x);        // x^(1/2)
Output Rsqrt(Output x);       // x^(-1/2)
Output Reciprocal(Output x);  // 1 / x
Output Exp(Output x);         // e^x
Output Expm1(Output x);       // e^x - 1, accurate near 0
Output Log(Output x);         // natural logarithm
Output Log1p(Output x);       // log(1 + x), accurate near 0
Output Sigmoid(Output x);     // 1 / (1 + e^-x)
Output Floor(Output x);       // largest integer not above x
Output Ceil(Output x);        // smallest integer not below x
Output Rint(Output x);        // nearest integer, halves to the even one; floating types only
Output Round(Output x);       // the same, also for integers
Output IsNan(Output x);
Output IsInf(Output x);
Output IsFinite(Output x);
Output LogicalNot(Output x);

}  // namespace sextant

#pragma GCC visibility pop

// Erf, Erfc, Erfinv, Ndtri, Lgamma, Digamma, Zeta, Polygamma: special functions, element by
// element.
#pragma once

#include "sextant/graph/output.h"
#include "sextant/ops/math/scalar_operand.h"

#pragma GCC visibility push(default)

namespace sextant {

Output Erf(Output x);      // 2 / sqrt(pi) * integral of exp(-t^2) from 0 to x
Output Erfc(Output x);     // 1 - Erf(x), accurate for large x
Output Erfinv(Output x);   // the number whose Erf is x
Output Ndtri(Output p);    // the number that a normal variable does not exceed with probability p
Output Lgamma(Output x);   // log |Gamma(x)|
Output Digamma(Output x);  // derivative of log Gamma
// Sum over k >= 0 of (q + k)^-x.
Output Zeta(Output x, Output q);
// The derivative of Digamma of order a (a whole number, not negative) at x.
Output Polygamma(Output a, Output x);

// The same with a number for one of the two.
inline Output Zeta(Output x, ScalarOperand q) { return Zeta(x, ScalarLike(q, x)); }
inline Output Zeta(ScalarOperand x, Output q) { return Zeta(ScalarLike(x, q), q); }
inline Output Polygamma(Output a, ScalarOperand x) { return Polygamma(a, ScalarLike(x, a)); }
inline Output Polygamma(ScalarOperand a, Output x) { return Polygamma(ScalarLike(a, x), x); }

}  // namespace sextant

#pragma GCC visibility pop

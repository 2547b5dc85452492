// Special functions that the standard library lacks, in double precision. Pure; NaN outside their
// domains. Templates are for T float and double: what is too large or too small for T is so as in
// TensorFlow, which computes in T.
#pragma once

namespace sextant {

// The z with erf(z) = x: infinite at -1 and 1. TensorFlow passes by (x + 1) / 2, so that the first
// T above 1 counts as 1.
template <typename T>
double InverseErf(T x);
// The z with probability p that a standard normal variable is below it: infinite at 0 and 1.
double NormalQuantile(double p);
// Derivative of log Gamma; NaN at 0, -1, -2, ...
double DigammaFunction(double x);
// Sum over k >= 0 of (q + k)^-x; infinite at x = 1. Where q is 0, -1, -2, ... it is infinite if x
// is even, else NaN.
template <typename T>
double HurwitzZeta(T x, T q);
// Derivative of order n of DigammaFunction.
template <typename T>
double PolygammaFunction(T n, T x);

}  // namespace sextant

// Special functions that the standard library lacks, in double precision. Pure; NaN outside their
// domains.
#pragma once

namespace sextant {

// The z with erf(z) = x: infinite at -1 and 1.
double InverseErf(double x);
// The z with probability p that a standard normal variable is below it: infinite at 0 and 1.
double NormalQuantile(double p);
// Derivative of log Gamma; NaN at 0, -1, -2, ...
double DigammaFunction(double x);
// Sum over k >= 0 of (q + k)^-x; infinite at x = 1 and where q is 0, -1, -2, ...
double HurwitzZeta(double x, double q);
// Derivative of order n of DigammaFunction.
double PolygammaFunction(double n, double x);

}  // namespace sextant

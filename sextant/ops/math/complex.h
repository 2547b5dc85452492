// Complex, Real, Imag, Conj, Angle, ComplexAbs: complex numbers and their parts, element by
// element.
#pragma once

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

// real + i imag, of float or double tensors, which broadcast.
Output Complex(Output real, Output imag);
// The parts of complex numbers. Of real tensors Real and Conj are x itself and Imag is 0, as
// TensorFlow's functions have it.
Output Real(Output x);
Output Imag(Output x);
Output Conj(Output x);
Output Angle(Output x);       // atan2(imag, real); of real tensors 0 or pi
Output ComplexAbs(Output x);  // |x| of a complex tensor; Abs takes both kinds

}  // namespace sextant

#pragma GCC visibility pop

// Compares a tensor with the one TensorFlow recorded, by the rule of the golden files: dtype and
// shape equal, then |actual - expected| <= atol + rtol * |expected| for floats; NaN matches NaN,
// infinities their sign; all else is exact, except that integers may differ by atol.
#pragma once

#include <string>

#include "sextant/tensor/tensor.h"

namespace sextant::conformance {

struct Tolerance {
  double rtol = 0;
  double atol = 0;
};

// Empty when they match, else what differs: the largest error and where it is.
std::string Difference(const Tensor& actual, const Tensor& expected, const Tolerance& tolerance);

}  // namespace sextant::conformance

// Element values of the case tables: from text, or drawn at random.
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sextant/tensor/tensor.h"

namespace sextant::testing {

// A stream of random bits that is the same on every platform.
class CaseRandom {
 public:
  explicit CaseRandom(std::string_view seed_text);
  // In [0, 1).
  double Uniform();

 private:
  uint64_t state_;
};

// Uniform in [low, high]; integers include both ends; bools are either. Throws INVALID_ARGUMENT for
// types that are not numbers.
Tensor RandomTensor(DType dtype, const Shape& shape, double low, double high, CaseRandom& random);

// The elements written as text (strings without their quotes). Throws INVALID_ARGUMENT on a wrong
// count or a malformed element.
Tensor LiteralTensor(DType dtype, const Shape& shape, std::span<const std::string> elements);

// Element i of a tensor of numbers or bools.
std::complex<double> ElementAsComplex(const Tensor& tensor, int64_t i);

}  // namespace sextant::testing

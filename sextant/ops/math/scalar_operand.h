// ScalarOperand: a C++ number where a builder of two operands takes a tensor, as in Maximum(x, 0)
// and 1.0 - x. It becomes a constant of the element type of the tensor beside it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

class SEXTANT_API ScalarOperand {
 public:
  // Of any C++ number. Implicit, so that Maximum(x, 0) compiles.
  template <typename T>
  requires std::is_arithmetic_v<T> ScalarOperand(T value)  // NOLINT: implicit on purpose
      : real_(static_cast<double>(value)),
        integer_(std::is_integral_v<T> ? static_cast<int64_t>(value) : 0),
        integral_(std::is_integral_v<T>) {}

  // A scalar of this type. Throws INVALID_ARGUMENT when the type is not a number's or bool, or does
  // not hold the value: no fraction is cut off.
  Tensor ToTensor(DType dtype) const;

 private:
  template <typename T>
  Tensor ToInteger() const;

  double real_;
  int64_t integer_;  // the value, if integral_
  bool integral_;
};

// A constant scalar of the element type of "like".
Output ScalarLike(ScalarOperand value, Output like);

}  // namespace sextant

#pragma GCC visibility pop

#include "sextant/ops/nn/zero_fraction.h"

#include "sextant/graph/scope.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/reduce.h"

namespace sextant {

// Whole numbers are counted: a mean of floats would lose elements beyond 2^24.
Output ZeroFraction(Output x) {
  const NameScope scope("zero_fraction");
  const Output zero = Cast(Equal(x, ScalarLike(0, x)), DType::kInt64);
  const Output count = Sum(Reshape(zero, {-1}), {0});
  return Cast(Cast(count, DType::kDouble) / Cast(Size(x, DType::kInt64), DType::kDouble),
              DType::kFloat);
}

}  // namespace sextant

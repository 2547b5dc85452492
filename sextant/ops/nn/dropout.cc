#include "sextant/ops/nn/dropout.h"

#include "sextant/base/error.h"
#include "sextant/graph/scope.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/random/random.h"

namespace sextant {

Output Dropout(Output x, const DropoutOptions& options) {
  const bool fed = static_cast<bool>(options.rate_tensor);
  if (!fed && !(options.rate >= 0 && options.rate < 1)) {
    throw InvalidArgument("dropout rate must be in [0, 1), got {}", options.rate);
  }
  if (!IsFloating(x.dtype())) {
    throw InvalidArgument("dropout scales its input, which must be of a floating type, got {}",
                          DTypeName(x.dtype()));
  }
  if (!fed && options.rate == 0) {
    MakeRandomSeeds(x.graph(), options.seed);  // so that later ops get the seeds they would get
    return x;
  }
  NameScope scope("dropout");
  // What is fed is a scalar, also where its placeholder does not say so.
  const Output rate =
      fed ? Reshape(Cast(options.rate_tensor, x.dtype()), std::vector<int64_t>{}) : Output();
  const Output scaled = fed ? x / (ScalarLike(1, x) - rate) : x * (1 / (1 - options.rate));
  const Output shape = options.noise_shape ? options.noise_shape : ShapeOf(x);
  const Output noise = RandomUniform(shape, {.dtype = x.dtype(), .seed = options.seed});
  const Output keep = GreaterEqual(noise, fed ? rate : ScalarLike(options.rate, noise));
  return SelectV2(keep, scaled, ScalarLike(0, x));
}

}  // namespace sextant

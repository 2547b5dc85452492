#include "sextant/ops/nn/moments.h"

#include "sextant/graph/scope.h"
#include "sextant/ops/array/identity.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/reduce.h"

namespace sextant {

MomentsResult Moments(Output x, const IndexArg& axes, const MomentsOptions& options) {
  NameScope scope("moments");
  const bool narrow = x.dtype() == DType::kHalf || x.dtype() == DType::kBFloat16;
  const Output y = narrow ? Cast(x, DType::kFloat) : x;
  const Output dims = axes.ToOutput();
  Output mean = Mean(y, dims, {.keep_dims = true});
  Output variance =
      Mean(SquaredDifference(y, StopGradient(mean)), dims, {.keep_dims = options.keep_dims});
  if (!options.keep_dims) mean = Reshape(mean, ShapeOf(variance));
  if (!narrow) return {mean, variance};
  return {Cast(mean, x.dtype()), Cast(variance, x.dtype())};
}

}  // namespace sextant

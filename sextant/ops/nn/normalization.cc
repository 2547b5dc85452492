#include "sextant/ops/nn/normalization.h"

#include "sextant/base/error.h"
#include "sextant/graph/scope.h"
#include "sextant/graph/shape_context.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/moments.h"

namespace sextant {

Output BatchNormalization(Output x, Output mean, Output variance, Output offset, Output scale,
                          const BatchNormalizationOptions& options) {
  NameScope scope("batchnorm");
  Output gain = Rsqrt(variance + options.variance_epsilon);
  if (scale) gain = gain * scale;
  const auto cast = [&x](Output value) {
    return value.dtype() == x.dtype() ? value : Cast(value, x.dtype());
  };
  const Output shift = offset ? offset - mean * gain : -mean * gain;
  return x * cast(gain) + cast(shift);
}

Output L2Normalize(Output x, const IndexArg& axes, const L2NormalizeOptions& options) {
  NameScope scope("l2_normalize");
  const Output squares = Sum(Square(x), axes, {.keep_dims = true});
  return x * Rsqrt(Maximum(squares, ScalarLike(options.epsilon, squares)));
}

Output LayerNorm(Output x, Output gamma, Output beta, const LayerNormOptions& options) {
  if (!x.shape().rank_known()) {
    throw InvalidArgument("layer normalization needs an input of known rank: {}", x.name());
  }
  NameScope scope("layer_norm");
  std::vector<int64_t> axes;
  const int rank = x.shape().rank();
  for (int i = shapes::NormalizeAxis(options.begin_axis, rank); i < rank; ++i) axes.push_back(i);
  const MomentsResult moments = Moments(x, axes, {.keep_dims = true});
  return BatchNormalization(x, moments.mean, moments.variance, beta, gamma,
                            {.variance_epsilon = options.epsilon});
}

}  // namespace sextant

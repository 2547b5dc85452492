#include "sextant/train/clip_gradients.h"

#include <functional>
#include <limits>
#include <numeric>

#include "sextant/base/error.h"
#include "sextant/nn/sum_of_all.h"
#include "sextant/ops/array/pack.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/clip.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/l2_loss.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/math/unary.h"

namespace sextant::train {
namespace {

Output Values(const Gradient& gradient) {
  return gradient.sparse() ? gradient.slices().values : gradient.dense();
}

Gradient WithValues(const Gradient& gradient, Output values) {
  if (!gradient.sparse()) return values;
  IndexedSlices slices = gradient.slices();
  slices.values = values;
  return slices;
}

}  // namespace

Output GlobalNorm(const std::vector<Gradient>& gradients) {
  const NameScope scope("global_norm");
  std::vector<Output> halves;
  for (const Gradient& gradient : gradients) {
    if (!gradient.none()) halves.push_back(L2Loss(Values(gradient)));
  }
  if (halves.empty()) throw InvalidArgument("GlobalNorm: there are no gradients");
  return Sqrt(Sum(Pack(halves), 0) * 2.0);
}

std::pair<std::vector<Gradient>, Output> ClipByGlobalNorm(const std::vector<Gradient>& gradients,
                                                          float clip_norm) {
  const Output norm = GlobalNorm(gradients);
  const NameScope scope("clip_by_global_norm");
  const Output limit = ScalarLike(clip_norm, norm);
  // inf - inf is NaN: what overflowed must not look clipped.
  const Output scale =
      limit * Minimum(1.0 / norm, ScalarLike(1.0 / static_cast<double>(clip_norm), norm)) +
      (norm - norm);
  std::vector<Gradient> clipped;
  for (const Gradient& gradient : gradients) {
    clipped.push_back(gradient.none() ? gradient : WithValues(gradient, Values(gradient) * scale));
  }
  return {std::move(clipped), norm};
}

Gradient ClipByNorm(const Gradient& gradient, float clip_norm) {
  const NameScope scope("clip_by_norm");
  const Output values = Values(gradient);
  const Output squares = SumOfAll(values * values);
  const Output positive = Greater(squares, ScalarLike(0, squares));
  const Output norm =
      Select(positive, Sqrt(Select(positive, squares, ScalarLike(1, squares))), squares);
  const Output limit = ScalarLike(clip_norm, values);
  return WithValues(gradient, values * limit / Maximum(norm, limit));
}

Gradient ClipByValue(const Gradient& gradient, float min, float max) {
  const Output values = Values(gradient);
  return WithValues(gradient,
                    sextant::ClipByValue(values, ScalarLike(min, values), ScalarLike(max, values)));
}

std::vector<GradientAndVariable> ClipAllByGlobalNorm(std::vector<GradientAndVariable> gradients,
                                                     float clip_norm) {
  std::vector<Gradient> values;
  for (const GradientAndVariable& pair : gradients) values.push_back(pair.gradient);
  values = ClipByGlobalNorm(values, clip_norm).first;
  for (size_t i = 0; i < gradients.size(); ++i) gradients[i].gradient = values[i];
  return gradients;
}

}  // namespace sextant::train

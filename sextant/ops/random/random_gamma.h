// RandomGamma, RandomPoisson: numbers with a gamma or Poisson distribution.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/random/random.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API RandomGammaOptions {
  std::optional<int64_t> seed = {};
};
// For every alpha a tensor of "shape" drawn from the gamma distribution with that alpha and rate 1;
// the output has the shape of "shape" followed by alpha's.
Output RandomGamma(const ShapeInput& shape, Output alpha, const RandomGammaOptions& options = {});

struct SEXTANT_API RandomPoissonOptions {
  DType dtype = DType::kFloat;
  std::optional<int64_t> seed = {};
};
// The same from the Poisson distribution with the given rates.
Output RandomPoisson(const ShapeInput& shape, Output rate,
                     const RandomPoissonOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

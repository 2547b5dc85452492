// Multinomial, StatelessMultinomial: draws from a categorical distribution per row.
#pragma once

#include "sextant/base/export.h"
#include "sextant/graph/output.h"
#include "sextant/ops/random/random.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API MultinomialOptions {
  DType output_dtype = DType::kInt64;
  std::optional<int64_t> seed = {};
};
// out[b, s] = class j with probability proportional to exp(logits[b, j]), for s < num_samples.
Output Multinomial(Output logits, Output num_samples, const MultinomialOptions& options = {});
// The same as a function of a seed of two integers.
Output StatelessMultinomial(Output logits, Output num_samples, Output seed,
                            DType output_dtype = DType::kInt64);

}  // namespace sextant

#pragma GCC visibility pop

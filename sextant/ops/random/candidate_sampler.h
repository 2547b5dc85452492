// UniformCandidateSampler, LogUniformCandidateSampler, AllCandidateSampler, ComputeAccidentalHits:
// negative classes for losses over very many classes (sampled softmax, noise-contrastive
// estimation).
#pragma once

#include <optional>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API CandidateSamplerOptions {
  int64_t num_sampled = 1;
  int64_t range_max = 1;  // classes are 0 to range_max - 1
  bool unique = true;     // no class twice
  std::optional<int64_t> seed = {};
};
struct SEXTANT_API Candidates {
  Output sampled;              // [num_sampled] int64
  Output true_expected_count;  // how often each true class is drawn, on average; like true_classes
  Output sampled_expected_count;
};
// P(class) = log((class + 2) / (class + 1)) / log(range_max + 1): classes sorted by falling
// frequency. true_classes is [batch, num_true] int64.
Candidates LogUniformCandidateSampler(Output true_classes, const CandidateSamplerOptions& options);
// All classes alike.
Candidates UniformCandidateSampler(Output true_classes, const CandidateSamplerOptions& options);

struct SEXTANT_API AccidentalHits {
  Output indices, ids, weights;
};
// Where a sampled class is a true one: rows of true_classes, positions in sampled_candidates, and
// the lowest float, to be added to the logits there.
AccidentalHits ComputeAccidentalHits(Output true_classes, Output sampled_candidates);

}  // namespace sextant

#pragma GCC visibility pop

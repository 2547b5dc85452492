// Choosing boxes by score, without those that overlap a better one.
#pragma once

#include <limits>

#include "sextant/graph/output.h"

namespace sextant {

struct NonMaxSuppressionOptions {
  float iou_threshold = 0.5F;  // boxes that share more with a chosen one are left out
  float score_threshold = -std::numeric_limits<float>::infinity();
};
// Indices of at most max_output_size boxes [y1, x1, y2, x2], best scores first (op
// NonMaxSuppressionV3). The shared part is the area of the intersection by that of the union.
Output NonMaxSuppression(Output boxes, Output scores, Output max_output_size,
                         const NonMaxSuppressionOptions& options = {});

struct PaddedNonMaxSuppression {
  Output selected_indices;  // max_output_size of them, zeros at the end
  Output valid_outputs;     // how many are meant
};
PaddedNonMaxSuppression NonMaxSuppressionPadded(Output boxes, Output scores, Output max_output_size,
                                                const NonMaxSuppressionOptions& options = {});

struct SoftNonMaxSuppressionOptions {
  float score_threshold = -std::numeric_limits<float>::infinity();
  float sigma = 0.5F;  // above 0
};
struct ScoredNonMaxSuppression {
  Output selected_indices;
  Output selected_scores;
};
// Overlap with a chosen box lowers a score by exp(-shared^2 / (2 sigma)) rather than leaving the
// box out.
ScoredNonMaxSuppression SoftNonMaxSuppression(Output boxes, Output scores, Output max_output_size,
                                              const SoftNonMaxSuppressionOptions& options = {});

}  // namespace sextant

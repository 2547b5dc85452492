// NonMaxSuppression and its padded and soft variants: the boxes with the highest scores that do not
// overlap a better one.
#pragma once

#include <limits>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant {

struct SEXTANT_API NonMaxSuppressionOptions {
  float iou_threshold = 0.5F;  // boxes that share more with a chosen one are left out
  float score_threshold = -std::numeric_limits<float>::infinity();
};
// Indices of at most max_output_size boxes [y1, x1, y2, x2], best scores first (op
// NonMaxSuppressionV3). The shared part is the area of the intersection by that of the union.
Output NonMaxSuppression(Output boxes, Output scores, Output max_output_size,
                         const NonMaxSuppressionOptions& options = {});

struct SEXTANT_API PaddedNonMaxSuppression {
  Output selected_indices;  // max_output_size of them, zeros at the end
  Output valid_outputs;     // how many are meant
};
PaddedNonMaxSuppression NonMaxSuppressionPadded(Output boxes, Output scores, Output max_output_size,
                                                const NonMaxSuppressionOptions& options = {});

struct SEXTANT_API SoftNonMaxSuppressionOptions {
  float score_threshold = -std::numeric_limits<float>::infinity();
  float sigma = 0.5F;  // above 0
};
struct SEXTANT_API ScoredNonMaxSuppression {
  Output selected_indices;
  Output selected_scores;
};
// Overlap with a chosen box lowers a score by exp(-shared^2 / (2 sigma)) rather than leaving the
// box out.
ScoredNonMaxSuppression SoftNonMaxSuppression(Output boxes, Output scores, Output max_output_size,
                                              const SoftNonMaxSuppressionOptions& options = {});

}  // namespace sextant

#pragma GCC visibility pop

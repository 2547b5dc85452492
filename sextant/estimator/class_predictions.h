// What the heads of classifiers share: names of classes, signatures, metrics at thresholds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sextant/estimator/head_impl.h"

namespace sextant::heads {

// Throws INVALID_ARGUMENT for a vocabulary of another size, thresholds that are not in (0, 1), or a
// reduction that leaves no scalar.
void CheckClassOptions(const ClassOptions& options, int64_t n_classes);
// Throws INVALID_ARGUMENT for strings.
void CheckNumbers(Output labels);

// The word of each id, or the id as text.
Output ClassNames(Output ids, const std::vector<std::string>& vocabulary);
// [batch, n]: the same row for every example.
Output AllClassIds(Output logits, int64_t n_classes);
Output AllClassNames(Output logits, int64_t n_classes, const std::vector<std::string>& vocabulary);

// A node of this name in the current scope. Predictions are called as TensorFlow calls them: who
// asks a server or a session for "head/predictions/logistic:0" gets it.
Output NamedNode(std::string_view op, std::string_view name, const std::vector<Output>& inputs);
// The predictions that binary and multi-class heads have in common, for one score a class.
// `first`: those that come before.
NamedOutputs ClassPredictions(NamedOutputs first, Output logits, Output scores,
                              const ClassOptions& options, int64_t n_classes);

// REQUIRES: there is one of that name.
Output PredictionOf(const NamedOutputs& predictions, const std::string& name);
// serving_default and classification (scores are "probabilities", classes are all there are), and
// predict.
std::vector<std::pair<std::string, ExportOutput>> ClassSignatures(
    const NamedOutputs& predictions, int64_t n_classes, const std::vector<std::string>& vocabulary);

// The training loss of row losses, and the mean for summaries.
HeadLoss Reduce(Output losses, Output weights, losses::Reduction reduction);

// accuracy, precision and recall "/positive_threshold_T" of each threshold.
void AddThresholdMetrics(NamedMetrics& metrics, const std::vector<float>& thresholds, Output labels,
                         Output probabilities, Output weights);

}  // namespace sextant::heads

// Losses: one number for a batch. Each is added to the collection "losses" of the graph.
#pragma once

#include <string>

#include "sextant/base/export.h"
#include "sextant/graph/output.h"

#pragma GCC visibility push(default)

namespace sextant::losses {

enum class Reduction {
  kNone,                 // the losses of the rows, weighted
  kSum,                  // their sum
  kMean,                 // sum / sum of weights
  kSumOverBatchSize,     // sum / number of losses
  kSumByNonzeroWeights,  // sum / number of weights that are not 0
};

struct SEXTANT_API LossOptions {
  Output weights = {};  // broadcast to the losses; none: 1
  Reduction reduction = Reduction::kSumByNonzeroWeights;
  std::string name = {};
};

// labels: class ids [batch]; logits [batch, classes].
Output SparseSoftmaxCrossEntropy(Output labels, Output logits, const LossOptions& options = {});
// labels: a distribution per row, e.g. one-hot.
Output SoftmaxCrossEntropy(Output labels, Output logits, const LossOptions& options = {});
// labels and logits of the same shape, every element a decision of its own.
Output SigmoidCrossEntropy(Output labels, Output logits, const LossOptions& options = {});
Output MeanSquaredError(Output labels, Output predictions, const LossOptions& options = {});
Output AbsoluteDifference(Output labels, Output predictions, const LossOptions& options = {});
Output HuberLoss(Output labels, Output predictions, float delta = 1,
                 const LossOptions& options = {});
Output LogLoss(Output labels, Output predictions, float epsilon = 1e-7f,
               const LossOptions& options = {});
// labels 0 or 1.
Output HingeLoss(Output labels, Output logits, const LossOptions& options = {});

// The loss of every element: max(x, 0) - x y + log(1 + e^-|x|), which is
// -y log sigmoid(x) - (1 - y) log(1 - sigmoid(x)) without overflow.
Output SigmoidCrossEntropyWithLogits(Output logits, Output labels);

// Weighted sum of losses of any shape, as the functions above end. Not collected.
Output ComputeWeightedLoss(Output losses, const LossOptions& options = {});

// The penalties in "regularization_losses" added up; none when there are none. Of a model in
// replicas (graph/replica.h) whose loss is a sum, the replica's share: replicas' losses add up.
Output RegularizationLoss();

// Everything in "losses" and, if requested, in "regularization_losses", added up; none when there
// is nothing.
Output TotalLoss(bool add_regularization = true);

}  // namespace sextant::losses

#pragma GCC visibility pop

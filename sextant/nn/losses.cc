#include "sextant/nn/losses.h"

#include "sextant/graph/graph.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/replica.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/get_variable.h"
#include "sextant/nn/sum_of_all.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/add_n.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/math/select.h"
#include "sextant/ops/math/unary.h"
#include "sextant/ops/nn/cross_entropy.h"

namespace sextant::losses {
namespace {

Output AsFloat(Output x) { return IsFloating(x.dtype()) ? x : Cast(x, DType::kFloat); }

Output Collected(Output losses, const LossOptions& options) {
  const Output loss = ComputeWeightedLoss(losses, options);
  loss.graph().AddToCollection(kLosses, loss);
  return loss;
}

const char* ScopeName(const LossOptions& options, const char* name) {
  return options.name.empty() ? name : options.name.c_str();
}

}  // namespace

Output SigmoidCrossEntropyWithLogits(Output logits, Output labels) {
  // Relu and Abs would have no slope at 0, where linear models begin; these sum up to the right
  // one.
  const Output zeros = ZerosLike(logits);
  const Output positive = GreaterEqual(logits, zeros);
  const Output minus_size = SelectV2(positive, Neg(logits), logits);
  return SelectV2(positive, logits, zeros) - logits * labels + Log1p(Exp(minus_size));
}

Output ComputeWeightedLoss(Output losses, const LossOptions& options) {
  losses = AsFloat(losses);
  Output weights;
  if (options.weights) {
    weights = options.weights.dtype() == losses.dtype() ? options.weights
                                                        : Cast(options.weights, losses.dtype());
    // [batch, 1] weights for [batch] losses, and the other way round.
    if (weights.shape().rank_known() && losses.shape().rank_known() && weights.shape().rank() > 0) {
      const int difference = weights.shape().rank() - losses.shape().rank();
      if (difference == 1) weights = Squeeze(weights, {weights.shape().rank() - 1});
      if (difference == -1) weights = ExpandDims(weights, -1);
    }
    losses = losses * weights;
  }
  if (options.reduction == Reduction::kNone) return losses;
  if (Replica* replica = Replica::Current()) {
    replica->set_loss_reduction(options.reduction == Reduction::kSum ? LossReduction::kSum
                                                                     : LossReduction::kMean);
  }
  const Output sum = SumOfAll(losses);
  const Output count = Cast(Size(losses), losses.dtype());
  switch (options.reduction) {
    case Reduction::kSum:
    case Reduction::kNone:
      return sum;
    case Reduction::kSumOverBatchSize:
      return DivNoNan(sum, count);
    case Reduction::kMean:
      return DivNoNan(sum, weights ? SumOfAll(weights * OnesLike(losses)) : count);
    case Reduction::kSumByNonzeroWeights: {
      if (!weights) return DivNoNan(sum, count);
      const Output present = Cast(NotEqual(weights, ScalarLike(0, weights)), losses.dtype());
      return DivNoNan(sum, SumOfAll(present * OnesLike(losses)));
    }
  }
  return sum;
}

Output SparseSoftmaxCrossEntropy(Output labels, Output logits, const LossOptions& options) {
  const NameScope scope(ScopeName(options, "sparse_softmax_cross_entropy_loss"));
  if (labels.shape().rank_known() && logits.shape().rank_known() &&
      labels.shape().rank() == logits.shape().rank()) {
    labels = Squeeze(labels, {labels.shape().rank() - 1});
  }
  return Collected(SparseSoftmaxCrossEntropyWithLogits(logits, labels).loss, options);
}

Output SoftmaxCrossEntropy(Output labels, Output logits, const LossOptions& options) {
  const NameScope scope(ScopeName(options, "softmax_cross_entropy_loss"));
  if (labels.dtype() != logits.dtype()) labels = Cast(labels, logits.dtype());
  return Collected(SoftmaxCrossEntropyWithLogits(logits, labels).loss, options);
}

Output SigmoidCrossEntropy(Output labels, Output logits, const LossOptions& options) {
  const NameScope scope(ScopeName(options, "sigmoid_cross_entropy_loss"));
  if (labels.dtype() != logits.dtype()) labels = Cast(labels, logits.dtype());
  return Collected(SigmoidCrossEntropyWithLogits(logits, labels), options);
}

Output MeanSquaredError(Output labels, Output predictions, const LossOptions& options) {
  const NameScope scope(ScopeName(options, "mean_squared_error"));
  return Collected(SquaredDifference(AsFloat(predictions), AsFloat(labels)), options);
}

Output AbsoluteDifference(Output labels, Output predictions, const LossOptions& options) {
  const NameScope scope(ScopeName(options, "absolute_difference"));
  return Collected(Abs(AsFloat(predictions) - AsFloat(labels)), options);
}

Output HuberLoss(Output labels, Output predictions, float delta, const LossOptions& options) {
  const NameScope scope(ScopeName(options, "huber_loss"));
  const Output distance = Abs(AsFloat(predictions) - AsFloat(labels));
  const Output near = Minimum(distance, ScalarLike(delta, distance));
  const Output far = distance - near;
  return Collected(0.5 * (near * near) + static_cast<double>(delta) * far, options);
}

Output LogLoss(Output labels, Output predictions, float epsilon, const LossOptions& options) {
  const NameScope scope(ScopeName(options, "log_loss"));
  const Output p = AsFloat(predictions), y = AsFloat(labels);
  const double e = static_cast<double>(epsilon);
  return Collected(Neg(y * Log(p + e)) - (1.0 - y) * Log(1.0 - p + e), options);
}

Output HingeLoss(Output labels, Output logits, const LossOptions& options) {
  const NameScope scope(ScopeName(options, "hinge_loss"));
  const Output signs = 2.0 * AsFloat(labels) - 1.0;
  const Output margin = 1.0 - signs * logits;
  return Collected(Maximum(margin, ScalarLike(0, margin)), options);
}

Output RegularizationLoss() {
  const std::vector<Output> penalties = CurrentGraph().Collection(kRegularizationLosses);
  if (penalties.empty()) return {};
  const Output sum = penalties.size() == 1 ? penalties[0] : AddN(penalties);
  const Replica* replica = Replica::Current();
  if (replica == nullptr || replica->loss_reduction() == LossReduction::kMean) return sum;
  return sum / static_cast<double>(replica->count());
}

Output TotalLoss(bool add_regularization) {
  std::vector<Output> all = CurrentGraph().Collection(kLosses);
  if (add_regularization) {
    if (const Output penalty = RegularizationLoss()) all.push_back(penalty);
  }
  if (all.empty()) return {};
  return all.size() == 1 ? all[0] : AddN(all);
}

}  // namespace sextant::losses

// Heads: what a model does with its logits: predictions, loss, metrics and training. Keys, names
// and definitions are TensorFlow's.
//
//   return heads::MultiClass(10).Spec(args, logits, train::Adam({.learning_rate = 1e-4f}));
//
// The loss is that of the examples, weighted and reduced, plus what is in the collection
// "regularization_losses"; the graph's update ops run before each training step. A Head is a small
// immutable description, usable for several graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sextant/base/export.h"
#include "sextant/estimator/model_fn.h"
#include "sextant/nn/losses.h"
#include "sextant/train/optimizer.h"

#pragma GCC visibility push(default)

namespace sextant::heads {

// One training step for this loss; counts the global step itself.
using TrainOpFn = std::function<Operation(Output loss)>;
// The loss of every example, [batch, 1] or [batch, label dimension], in place of the head's own.
using LossFn = std::function<Output(Output labels, Output logits)>;

class HeadImpl;

class SEXTANT_API Head {
 public:
  explicit Head(std::shared_ptr<const HeadImpl> impl) : impl_(std::move(impl)) {}
  // How many logits an example has.
  int64_t logits_dimension() const;
  const std::string& name() const;

  // The spec of args.mode for logits [batch, logits_dimension]. Labels are the only ones there are
  // or those by the head's name. Throws INVALID_ARGUMENT for logits, labels or weights that do not
  // fit. When it runs, a label out of range is an INVALID_ARGUMENT that names it and the range.
  EstimatorSpec Spec(const ModelFnArgs& args, Output logits,
                     const train::Optimizer& optimizer) const;
  EstimatorSpec Spec(const ModelFnArgs& args, Output logits, const TrainOpFn& train_op) const;

  const HeadImpl& operator*() const { return *impl_; }
  const HeadImpl* operator->() const { return impl_.get(); }

 private:
  std::shared_ptr<const HeadImpl> impl_;
};

// Which predictions classifiers give and what their nodes are called.
enum class PredictionStyle {
  kCurrent,       // as TensorFlow from 1.13 on: with all_class_ids and all_classes
  kTensorFlow14,  // as 1.4: without those two; nodes predictions/logits and predictions/classes
};

struct SEXTANT_API ClassOptions {
  std::string weight_column = {};  // the feature that says how much an example counts
  // Labels are these words; else numbers 0, 1, ….
  std::vector<std::string> label_vocabulary = {};
  // kSum is that of tf.compat.v1's estimators.
  losses::Reduction loss_reduction = losses::Reduction::kSumOverBatchSize;
  // Binary and MultiLabel: further accuracies, precisions and recalls at these, each in (0, 1).
  std::vector<float> thresholds = {};
  LossFn loss = {};
  std::string name = {};  // put behind the names of metrics: "accuracy/NAME"
  PredictionStyle prediction_style = PredictionStyle::kCurrent;  // of Binary and MultiClass
};

// Two classes, one logit. Labels are 0 or 1, or shares between.
Head Binary(const ClassOptions& options = {});
// One of n > 2 classes. Throws INVALID_ARGUMENT for fewer.
Head MultiClass(int64_t n_classes, const ClassOptions& options = {});
// MultiClass, or Binary for two: what classifiers use.
Head BinaryOrMultiClass(int64_t n_classes, const ClassOptions& options = {});
// Any of n >= 2 classes. Labels: a 0 or 1 for each class, or sparse: the ids or words of those that
// hold.
Head MultiLabel(int64_t n_classes, const ClassOptions& options = {});

struct SEXTANT_API RegressionOptions {
  int64_t label_dimension = 1;
  std::string weight_column = {};  // one weight an example, or one a label
  losses::Reduction loss_reduction = losses::Reduction::kSumOverBatchSize;
  LossFn loss = {};                                 // default: squared difference
  std::function<Output(Output)> inverse_link = {};  // from logits to predictions
  std::string name = {};
};
Head Regression(const RegressionOptions& options = {});

struct SEXTANT_API MultiHeadOptions {
  std::vector<double> weights = {};  // of each head's loss; none: 1
};
// Several heads, each with a name, labels by their names and its part of the logits, in order. The
// first is served by default. Predictions are named "HEAD/KEY".
Head MultiHead(std::vector<Head> heads, const MultiHeadOptions& options = {});

}  // namespace sextant::heads

#pragma GCC visibility pop

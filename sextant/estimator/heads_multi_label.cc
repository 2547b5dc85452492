// The head of examples that belong to any number of classes.
#include "sextant/base/error.h"
#include "sextant/estimator/class_predictions.h"
#include "sextant/estimator/head_impl.h"
#include "sextant/estimator/head_inputs.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/metrics.h"
#include "sextant/ops/array/one_hot.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/reduce.h"
#include "sextant/ops/math/segment.h"

namespace sextant::heads {
namespace {

class MultiLabelHead : public HeadImpl {
 public:
  MultiLabelHead(int64_t n_classes, ClassOptions options)
      : n_classes_(n_classes), options_(std::move(options)) {
    if (n_classes < 2) {
      throw InvalidArgument("n_classes of a multi-label head must be above 1, is {}", n_classes);
    }
    CheckClassOptions(options_, n_classes);
  }
  int64_t logits_dimension() const override { return n_classes_; }
  const std::string& name() const override { return options_.name; }

  NamedOutputs Predictions(Output logits) const override {
    return {{"logits", logits},
            {"probabilities", NamedNode("Sigmoid", "probabilities", {logits})},
            {"classes", AllClassNames(logits, n_classes_, options_.label_vocabulary)}};
  }
  std::vector<std::pair<std::string, ExportOutput>> ExportOutputs(
      const NamedOutputs& predictions) const override {
    return ClassSignatures(predictions, n_classes_, options_.label_vocabulary);
  }

  HeadLoss Loss(const ModelFnArgs& args, Output logits, const NamedOutputs& predictions,
                bool metrics) const override {
    const Output labels = Indicators(args.labels, logits);
    const Output losses =
        options_.loss
            ? options_.loss(labels, logits)
            : Mean(losses::SigmoidCrossEntropyWithLogits(logits, labels), -1, {.keep_dims = true});
    const Output weights = WeightsOf(args.features, options_.weight_column);
    HeadLoss result = Reduce(losses, weights, options_.loss_reduction);
    if (metrics) {
      result.metrics = Metrics(labels, PredictionOf(predictions, "probabilities"), losses, weights);
    }
    return result;
  }

 private:
  // [batch, classes] of 0 and 1.
  Output Indicators(const Features& labels, Output logits) const {
    if (const auto* sparse = std::get_if<SparseTensor>(&LabelsOf(labels, name()))) {
      Output ids = sparse->values;
      if (ids.dtype() == DType::kString) {
        if (options_.label_vocabulary.empty()) CheckNumbers(ids);
        ids = LookUpLabels(ids, options_.label_vocabulary);
      } else {
        ids = CheckRange(Cast(ids, DType::kInt64), sparse->values, n_classes_ - 1);
      }
      const Output rows = Squeeze(Slice(sparse->indices, {0, 0}, {-1, 1}), {1});
      const Output batch = Squeeze(Slice(ShapeOf(logits), {0}, {1}), {0});
      const Output counts = UnsortedSegmentSum(OneHot(ids, n_classes_), rows, batch);
      return Minimum(counts, ScalarLike(1, counts));
    }
    const Output given = DenseLabels(labels, name(), n_classes_);
    CheckNumbers(given);
    return CheckRange(Cast(given, DType::kFloat), given, 1);
  }

  NamedMetrics Metrics(Output labels, Output probabilities, Output losses, Output weights) const {
    namespace m = sextant::metrics;
    const NameScope scope("metrics");
    NamedMetrics all = {
        {"average_loss", m::Mean(losses, {weights, "average_loss"})},
        {"auc", m::Auc(labels, probabilities, {.weights = weights, .name = "auc"})},
        {"auc_precision_recall", m::Auc(labels, probabilities,
                                        {.weights = weights,
                                         .curve = "PR",
                                         .summation_method = "careful_interpolation",
                                         .name = "auc_precision_recall"})}};
    AddThresholdMetrics(all, options_.thresholds, labels, probabilities, weights);
    for (auto& [key, metric] : all) key = KeyOf(key, name());
    return all;
  }

  const int64_t n_classes_;
  const ClassOptions options_;
};

}  // namespace

Head MultiLabel(int64_t n_classes, const ClassOptions& options) {
  return Head(std::make_shared<MultiLabelHead>(n_classes, options));
}

}  // namespace sextant::heads

// Binary and multi-class heads.
#include <fmt/format.h>

#include "sextant/base/error.h"
#include "sextant/estimator/class_predictions.h"
#include "sextant/estimator/head_impl.h"
#include "sextant/estimator/head_inputs.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/metrics.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/nn/cross_entropy.h"

namespace sextant::heads {
namespace {

Metric Baseline(const Metric& labels) {
  const NameScope scope("accuracy_baseline");
  const auto better = [](Output mean) { return Maximum(mean, 1.0 - mean); };
  return {better(labels.value), better(labels.update)};
}

// In 1.4 logits have a node of their own among the predictions.
Output AsPrediction(Output logits, const ClassOptions& options) {
  if (options.prediction_style == PredictionStyle::kCurrent) return logits;
  return NamedNode("Identity", "logits", {logits});
}

class BinaryHead : public HeadImpl {
 public:
  explicit BinaryHead(ClassOptions options) : options_(std::move(options)) {
    CheckClassOptions(options_, 2);
  }
  int64_t logits_dimension() const override { return 1; }
  const std::string& name() const override { return options_.name; }

  NamedOutputs Predictions(Output logits) const override {
    logits = AsPrediction(logits, options_);
    const Output logistic = NamedNode("Sigmoid", "logistic", {logits});
    const Output two = OpBuilder("ConcatV2")
                           .Input(std::vector<Output>{ZerosLike(logits), logits})
                           .Input(Const(Tensor(int32_t{-1}), "two_class_logits/axis"))
                           .Name("two_class_logits")
                           .Build();
    return ClassPredictions({{"logistic", logistic}}, logits, two, options_, 2);
  }

  std::vector<std::pair<std::string, ExportOutput>> ExportOutputs(
      const NamedOutputs& predictions) const override {
    auto outputs = ClassSignatures(predictions, 2, options_.label_vocabulary);
    outputs.emplace_back("regression",
                         ExportOutput{ExportOutput::Kind::kRegress,
                                      {{"outputs", PredictionOf(predictions, "logistic")}}});
    return outputs;
  }

  HeadLoss Loss(const ModelFnArgs& args, Output logits, const NamedOutputs& predictions,
                bool metrics) const override {
    const Output given = DenseLabels(args.labels, name(), 1);
    Output labels;
    if (options_.label_vocabulary.empty()) {
      CheckNumbers(given);
      labels = CheckRange(Cast(given, DType::kFloat), given, 1);
    } else {
      labels = Cast(LookUpLabels(given, options_.label_vocabulary), DType::kFloat);
    }
    const Output losses = options_.loss ? options_.loss(labels, logits)
                                        : losses::SigmoidCrossEntropyWithLogits(logits, labels);
    const Output weights = WeightsOf(args.features, options_.weight_column);
    HeadLoss result = Reduce(losses, weights, options_.loss_reduction);
    if (metrics) result.metrics = Metrics(labels, predictions, losses, weights);
    return result;
  }

 private:
  NamedMetrics Metrics(Output labels, const NamedOutputs& predictions, Output losses,
                       Output weights) const {
    namespace m = sextant::metrics;
    const NameScope scope("metrics");
    const Output ids = PredictionOf(predictions, "class_ids");
    const Output logistic = PredictionOf(predictions, "logistic");
    const auto named = [&](const char* key) { return m::MetricOptions{weights, key}; };
    const Metric mean = m::Mean(labels, named("label/mean"));
    NamedMetrics all = {
        {"average_loss", m::Mean(losses, named("average_loss"))},
        {"accuracy", m::Accuracy(labels, ids, named("accuracy"))},
        {"precision", m::Precision(labels, ids, named("precision"))},
        {"recall", m::Recall(labels, ids, named("recall"))},
        {"prediction/mean", m::Mean(logistic, named("prediction/mean"))},
        {"label/mean", mean},
        {"accuracy_baseline", Baseline(mean)},
        {"auc", m::Auc(labels, logistic, {.weights = weights, .name = "auc"})},
        {"auc_precision_recall",
         m::Auc(labels, logistic,
                {.weights = weights, .curve = "PR", .name = "auc_precision_recall"})}};
    AddThresholdMetrics(all, options_.thresholds, labels, logistic, weights);
    for (auto& [key, metric] : all) key = KeyOf(key, name());
    return all;
  }

  const ClassOptions options_;
};

class MultiClassHead : public HeadImpl {
 public:
  MultiClassHead(int64_t n_classes, ClassOptions options)
      : n_classes_(n_classes), options_(std::move(options)) {
    if (n_classes < 3) {
      throw InvalidArgument("n_classes of a multi-class head must be above 2, is {}", n_classes);
    }
    if (!options_.thresholds.empty()) {
      throw InvalidArgument("thresholds are for binary and multi-label heads");
    }
    CheckClassOptions(options_, n_classes);
  }
  int64_t logits_dimension() const override { return n_classes_; }
  const std::string& name() const override { return options_.name; }

  NamedOutputs Predictions(Output logits) const override {
    logits = AsPrediction(logits, options_);
    return ClassPredictions({}, logits, logits, options_, n_classes_);
  }
  std::vector<std::pair<std::string, ExportOutput>> ExportOutputs(
      const NamedOutputs& predictions) const override {
    return ClassSignatures(predictions, n_classes_, options_.label_vocabulary);
  }

  HeadLoss Loss(const ModelFnArgs& args, Output logits, const NamedOutputs& predictions,
                bool metrics) const override {
    const Output given = DenseLabels(args.labels, name(), 1);
    Output labels;
    if (options_.label_vocabulary.empty()) {
      if (!IsInteger(given.dtype())) {
        throw InvalidArgument(
            "labels of {} classes must be integers, {} is of type {}; words need a "
            "label_vocabulary",
            n_classes_, given.name(), DTypeName(given.dtype()));
      }
      labels = given.dtype() == DType::kInt32 ? given : Cast(given, DType::kInt64);
      labels = CheckRange(labels, given, n_classes_ - 1);
    } else {
      labels = LookUpLabels(given, options_.label_vocabulary);
    }
    const Output losses = options_.loss ? options_.loss(labels, logits) : RowLosses(labels, logits);
    const Output weights = WeightsOf(args.features, options_.weight_column);
    HeadLoss result = Reduce(losses, weights, options_.loss_reduction);
    if (metrics) {
      namespace m = sextant::metrics;
      const NameScope scope("metrics");
      const Output ids = PredictionOf(predictions, "class_ids");
      result.metrics = {
          {KeyOf("average_loss", name()), m::Mean(losses, {weights, "average_loss"})},
          {KeyOf("accuracy", name()), m::Accuracy(labels, ids, {weights, "accuracy"})}};
    }
    return result;
  }

 private:
  static Output RowLosses(Output labels, Output logits) {
    const int64_t n = logits.shape()[logits.shape().rank() - 1];
    const Output rows =
        SparseSoftmaxCrossEntropyWithLogits(Reshape(logits, {-1, n}), Reshape(labels, {-1})).loss;
    return logits.shape().rank() == 2 ? ExpandDims(rows, -1) : Reshape(rows, ShapeOf(labels));
  }

  const int64_t n_classes_;
  const ClassOptions options_;
};

}  // namespace

Head Binary(const ClassOptions& options) { return Head(std::make_shared<BinaryHead>(options)); }

Head MultiClass(int64_t n_classes, const ClassOptions& options) {
  return Head(std::make_shared<MultiClassHead>(n_classes, options));
}

Head BinaryOrMultiClass(int64_t n_classes, const ClassOptions& options) {
  if (n_classes < 2) throw InvalidArgument("n_classes must be at least 2, is {}", n_classes);
  return n_classes == 2 ? Binary(options) : MultiClass(n_classes, options);
}

}  // namespace sextant::heads

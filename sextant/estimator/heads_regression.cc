// The head that predicts numbers.
#include "sextant/base/error.h"
#include "sextant/estimator/class_predictions.h"
#include "sextant/estimator/head_impl.h"
#include "sextant/estimator/head_inputs.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/metrics.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"

namespace sextant::heads {
namespace {

class RegressionHead : public HeadImpl {
 public:
  explicit RegressionHead(RegressionOptions options) : options_(std::move(options)) {
    CheckReduction(options_.loss_reduction);
    if (options_.label_dimension < 1) {
      throw InvalidArgument("label_dimension must be at least 1, is {}", options_.label_dimension);
    }
  }
  int64_t logits_dimension() const override { return options_.label_dimension; }
  const std::string& name() const override { return options_.name; }

  NamedOutputs Predictions(Output logits) const override {
    if (!options_.inverse_link) return {{"predictions", logits}};
    return {{"predictions", options_.inverse_link(logits)}, {"logits", logits}};
  }
  std::vector<std::pair<std::string, ExportOutput>> ExportOutputs(
      const NamedOutputs& predictions) const override {
    const ExportOutput regress{ExportOutput::Kind::kRegress,
                               {{"outputs", PredictionOf(predictions, "predictions")}}};
    return {{"serving_default", regress},
            {"regression", regress},
            {"predict", {ExportOutput::Kind::kPredict, predictions}}};
  }

  HeadLoss Loss(const ModelFnArgs& args, Output logits, const NamedOutputs& predictions,
                bool metrics) const override {
    const Output given = DenseLabels(args.labels, name(), options_.label_dimension);
    if (given.dtype() == DType::kString) {
      throw InvalidArgument("labels of a regression must be numbers, {} are strings", given.name());
    }
    const Output labels = Cast(given, DType::kFloat);
    const Output losses =
        options_.loss ? options_.loss(labels, logits) : SquaredDifference(logits, labels);
    const Output weights = WeightsOf(args.features, options_.weight_column, true);
    HeadLoss result = Reduce(losses, weights, options_.loss_reduction);
    if (metrics) {
      namespace m = sextant::metrics;
      const NameScope scope("metrics");
      const Output predicted = PredictionOf(predictions, "predictions");
      result.metrics = {
          {KeyOf("average_loss", name()), m::Mean(losses, {weights, "average_loss"})},
          {KeyOf("prediction/mean", name()), m::Mean(predicted, {weights, "prediction/mean"})},
          {KeyOf("label/mean", name()), m::Mean(labels, {weights, "label/mean"})}};
    }
    return result;
  }

 private:
  const RegressionOptions options_;
};

}  // namespace

Head Regression(const RegressionOptions& options) {
  return Head(std::make_shared<RegressionHead>(options));
}

}  // namespace sextant::heads

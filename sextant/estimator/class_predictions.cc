#include "sextant/estimator/class_predictions.h"

#include <fmt/format.h>

#include "sextant/base/error.h"
#include "sextant/estimator/head_inputs.h"
#include "sextant/graph/op_builder.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/metrics.h"
#include "sextant/nn/sum_of_all.h"
#include "sextant/ops/array/broadcast_to.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/cast.h"
#include "sextant/ops/math/compare.h"
#include "sextant/ops/string/as_string.h"

namespace sextant::heads {
namespace {

// One row for all examples.
Output ForEachExample(const Tensor& row, Output logits) {
  const Output batch = Slice(ShapeOf(logits), {0}, {1});
  const Output once = Const(Tensor::Of<int32_t>({1}));
  return Tile(ExpandDims(Const(row), 0), Concat({batch, once}, 0));
}

}  // namespace

void CheckClassOptions(const ClassOptions& options, int64_t n_classes) {
  CheckReduction(options.loss_reduction);
  const auto words = static_cast<int64_t>(options.label_vocabulary.size());
  if (words != 0 && words != n_classes) {
    throw InvalidArgument("label_vocabulary has {} words, n_classes is {}", words, n_classes);
  }
  for (const float threshold : options.thresholds) {
    if (!(threshold > 0 && threshold < 1)) {
      throw InvalidArgument("thresholds must be in (0, 1), one is {}", threshold);
    }
  }
}

void CheckNumbers(Output labels) {
  if (labels.dtype() != DType::kString) return;
  throw InvalidArgument("labels {} are strings; give the head a label_vocabulary", labels.name());
}

Output ClassNames(Output ids, const std::vector<std::string>& vocabulary) {
  return vocabulary.empty() ? AsString(ids) : WordsOf(ids, vocabulary);
}

Output AllClassIds(Output logits, int64_t n_classes) {
  Tensor ids(DType::kInt32, Shape{n_classes});
  for (int64_t i = 0; i < n_classes; ++i) ids.data<int32_t>()[i] = static_cast<int32_t>(i);
  return ForEachExample(ids, logits);
}

Output AllClassNames(Output logits, int64_t n_classes, const std::vector<std::string>& vocabulary) {
  Tensor names(DType::kString, Shape{n_classes});
  for (int64_t i = 0; i < n_classes; ++i) {
    names.data<std::string>()[i] = vocabulary.empty() ? std::to_string(i) : vocabulary[i];
  }
  return ForEachExample(names, logits);
}

Output PredictionOf(const NamedOutputs& predictions, const std::string& name) {
  for (const auto& [key, output] : predictions) {
    if (key == name) return output;
  }
  throw Internal("there is no prediction '{}'", name);
}

std::vector<std::pair<std::string, ExportOutput>> ClassSignatures(const NamedOutputs& predictions) {
  bool all = false;
  for (const auto& [key, output] : predictions) all = all || key == "all_classes";
  const ExportOutput classify{
      ExportOutput::Kind::kClassify,
      {{"scores", PredictionOf(predictions, "probabilities")},
       {"classes", PredictionOf(predictions, all ? "all_classes" : "classes")}}};
  return {{"serving_default", classify},
          {"classification", classify},
          {"predict", {ExportOutput::Kind::kPredict, predictions}}};
}

HeadLoss Reduce(Output losses, Output weights, losses::Reduction reduction) {
  const NameScope scope("weighted_loss");
  HeadLoss loss;
  loss.training = losses::ComputeWeightedLoss(losses, {.weights = weights, .reduction = reduction});
  if (reduction == losses::Reduction::kSum) {
    const Output count =
        weights ? SumOfAll(weights * OnesLike(losses)) : Cast(Size(losses), losses.dtype());
    loss.mean = loss.training / count;
  }
  return loss;
}

void AddThresholdMetrics(NamedMetrics& metrics, const std::vector<float>& thresholds, Output labels,
                         Output probabilities, Output weights) {
  namespace m = sextant::metrics;
  if (labels.dtype() != DType::kFloat) labels = Cast(labels, DType::kFloat);
  for (const float threshold : thresholds) {
    const auto name = [&](const char* metric) {
      return fmt::format("{}/positive_threshold_{:g}", metric, threshold);
    };
    const Output above =
        Cast(GreaterEqual(probabilities, ScalarLike(threshold, probabilities)), DType::kFloat);
    const auto scalar = [](const Metric& vector) {
      return Metric{Squeeze(vector.value), Squeeze(vector.update)};
    };
    metrics.emplace_back(name("accuracy"), m::Accuracy(labels, above, {weights, name("accuracy")}));
    metrics.emplace_back(name("precision"),
                         scalar(m::PrecisionAtThresholds(labels, probabilities, {threshold},
                                                         {weights, name("precision")})));
    metrics.emplace_back(name("recall"),
                         scalar(m::RecallAtThresholds(labels, probabilities, {threshold},
                                                      {weights, name("recall")})));
  }
}

}  // namespace sextant::heads

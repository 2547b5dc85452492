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

Output NamedNode(std::string_view op, std::string_view name, const std::vector<Output>& inputs) {
  OpBuilder builder(op);
  for (const Output& input : inputs) builder.Input(input);
  return builder.Name(name).Build();
}

Output ClassNames(Output ids, const std::vector<std::string>& vocabulary) {
  return vocabulary.empty() ? NamedNode("AsString", "str_classes", {ids})
                            : WordsOf(ids, vocabulary);
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

NamedOutputs ClassPredictions(NamedOutputs first, Output logits, Output scores,
                              const ClassOptions& options, int64_t n_classes) {
  NamedOutputs all = {{"logits", logits}};
  all.insert(all.end(), first.begin(), first.end());
  all.emplace_back("probabilities", NamedNode("Softmax", "probabilities", {scores}));
  const bool old = options.prediction_style == PredictionStyle::kTensorFlow14;
  const Output best = NamedNode("ArgMax", old && n_classes == 2 ? "ArgMax" : "class_ids",
                                {scores, Const(Tensor(int32_t{-1}), "class_ids/dimension")});
  const auto add_classes = [&](Output ids) {
    all.emplace_back("class_ids", ids);
    all.emplace_back("classes", ClassNames(ids, options.label_vocabulary));
  };
  if (old) {
    add_classes(n_classes == 2 ? NamedNode("Reshape", "classes", {best, ConstInts({-1, 1})})
                               : ExpandDims(best, -1));
    return all;
  }
  // In the order in which TensorFlow makes them, as names tell it: ExpandDims_2 is the third.
  Output ids;
  if (n_classes == 2) ids = ExpandDims(best, -1);
  const Output all_ids = AllClassIds(logits, n_classes);
  const Output all_names = AllClassNames(logits, n_classes, options.label_vocabulary);
  add_classes(n_classes == 2 ? ids : ExpandDims(best, -1));
  all.emplace_back("all_class_ids", all_ids);
  all.emplace_back("all_classes", all_names);
  return all;
}

Output PredictionOf(const NamedOutputs& predictions, const std::string& name) {
  for (const auto& [key, output] : predictions) {
    if (key == name) return output;
  }
  throw Internal("there is no prediction '{}'", name);
}

std::vector<std::pair<std::string, ExportOutput>> ClassSignatures(
    const NamedOutputs& predictions, int64_t n_classes,
    const std::vector<std::string>& vocabulary) {
  const Output scores = PredictionOf(predictions, "probabilities");
  const ExportOutput classify{
      ExportOutput::Kind::kClassify,
      {{"scores", scores}, {"classes", AllClassNames(scores, n_classes, vocabulary)}}};
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

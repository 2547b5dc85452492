// Every metric over two batches, with and without weights: the value after each as TensorFlow's.
#include <future>
#include <map>

#include "sextant/nn/golden_values.h"
#include "sextant/nn/metrics.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/queue/queue.h"
#include "sextant/ops/state/variable.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant::metrics {
namespace {

Metric Build(const std::string& name, Output labels, Output predictions, Output weights) {
  const MetricOptions options = {.weights = weights};
  using Pair = Metric (*)(Output, Output, const MetricOptions&);
  static const std::map<std::string, Pair> pairs = {
      {"accuracy", Accuracy},
      {"mean_absolute_error", MeanAbsoluteError},
      {"mean_squared_error", MeanSquaredError},
      {"root_mean_squared_error", RootMeanSquaredError},
      {"true_positives", TruePositives},
      {"true_negatives", TrueNegatives},
      {"false_positives", FalsePositives},
      {"false_negatives", FalseNegatives},
      {"precision", Precision},
      {"recall", Recall},
  };
  if (const auto found = pairs.find(name); found != pairs.end()) {
    return found->second(labels, predictions, options);
  }
  const std::vector<float> thresholds = {0.2F, 0.5F, 0.8F};
  if (name == "mean") return Mean(predictions, options);
  if (name == "percentage_below") return PercentageBelow(predictions, 0.3F, options);
  if (name == "top_k_accuracy") return TopKAccuracy(labels, predictions, 2, options);
  if (name == "precision_at_thresholds") {
    return PrecisionAtThresholds(labels, predictions, thresholds, options);
  }
  if (name == "recall_at_thresholds") {
    return RecallAtThresholds(labels, predictions, thresholds, options);
  }
  if (name == "mean_per_class_accuracy") {
    return MeanPerClassAccuracy(labels, predictions, 3, options);
  }
  if (name == "mean_iou") return MeanIou(labels, predictions, 3, options);
  // auc_CURVE_METHOD
  const size_t method = name.find('_', 4) + 1;
  return Auc(labels, predictions,
             {.weights = weights,
              .num_thresholds = 11,
              .curve = name.substr(4, method - 5),
              .summation_method = name.substr(method)});
}

TEST(MetricsGoldenTest, AsTensorFlow) {
  for (const auto& metric : GoldenValues("metrics")) {
    const std::string name = metric.at("name");
    Graph graph;
    const GraphScope scope(graph);
    const auto& first = metric.at("batches")[0];
    const auto placeholder = [&](const char* key) {
      if (!first.contains(key)) return Output();
      const Tensor value = GoldenTensor(first.at(key));
      return Placeholder(value.dtype(), value.shape());
    };
    const std::vector<std::pair<const char*, Output>> inputs = {
        {"labels", placeholder("labels")},
        {"predictions", placeholder("predictions")},
        {"weights", placeholder("weights")}};
    const Metric built = Build(name, inputs[0].second, inputs[1].second, inputs[2].second);
    Session session(graph);
    session.Run(VariablesInitializer(CollectedVariables(kLocalVariables)));
    for (const auto& batch : metric.at("batches")) {
      FeedMap feeds;
      for (const auto& [key, input] : inputs) {
        if (input) feeds.emplace_back(input, GoldenTensor(batch.at(key)));
      }
      session.Run(feeds, built.update);
      ExpectGolden(session.Run(built.value), batch.at("value"), name + " value");
    }
    EXPECT_EQ(CollectedVariables(kMetricVariables).size(),
              CollectedVariables(kLocalVariables).size())
        << name;
  }
}

TEST(MetricsGoldenTest, BeforeAnyBatchTheyAreZero) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = Placeholder(DType::kFloat, {2});
  const Metric mean = Mean(x), accuracy = Accuracy(x, x);
  Session session(graph);
  session.Run(VariablesInitializer(CollectedVariables(kLocalVariables)));
  EXPECT_EQ(session.Run(mean.value).scalar<float>(), 0);
  EXPECT_EQ(session.Run(accuracy.value).scalar<float>(), 0);
}

// The number of values of a batch may be known before the batch is there.
TEST(MetricsGoldenTest, TheEndOfTheDataIsNoBatch) {
  for (int i = 0; i < 20; ++i) {
    Graph graph;
    const GraphScope scope(graph);
    const Output queue = FIFOQueue({DType::kFloat});
    const Operation close = QueueClose(queue);
    const Metric mean = Mean(Reshape(QueueDequeue(queue)[0], {2}));
    const std::vector<Variable> state = CollectedVariables(kLocalVariables);
    Session session(graph);
    session.Run(VariablesInitializer(state));
    auto end =
        std::async(std::launch::async, [&] { return StatusOf([&] { session.Run(mean.update); }); });
    session.Run(close);
    EXPECT_EQ(end.get().code(), Code::kOutOfRange);
    for (const Variable& variable : state)
      EXPECT_EQ(session.Run(variable.value()).scalar<float>(), 0) << variable.name();
  }
}

TEST(MetricsGoldenTest, BadArgumentsAreErrors) {
  Graph graph;
  const GraphScope scope(graph);
  const Output x = Ones({2});
  EXPECT_THROW(Auc(x, x, {.curve = "XY"}), Error);
  EXPECT_THROW(Auc(x, x, {.summation_method = "simpson"}), Error);
  EXPECT_THROW(Auc(x, x, {.num_thresholds = 1}), Error);
}

}  // namespace
}  // namespace sextant::metrics

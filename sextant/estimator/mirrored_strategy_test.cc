#include "sextant/estimator/mirrored_strategy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sextant/base/error.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/nn/feature_column.h"
#include "sextant/nn/layers.h"
#include "sextant/nn/losses.h"
#include "sextant/nn/metrics.h"
#include "sextant/ops/array/shape.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/dataset/graph_iterator.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/arg_reduce.h"
#include "sextant/ops/math/binary.h"
#include "sextant/train/clip_gradients.h"
#include "sextant/train/global_step.h"
#include "sextant/train/moving_average.h"
#include "sextant/train/optimizers.h"

namespace sextant {
namespace {

constexpr int kSteps = 20, kTotalBatch = 16, kImageRows = 48;

// Numbers in [-1, 1) that look random.
float ImageNoise(int64_t i) {
  const double x = std::sin(static_cast<double>(i) * 12.9898) * 43758.5453;
  return static_cast<float>(2 * (x - std::floor(x)) - 1);
}

// image [8,8], x [4], word "w0".."w9", label 0..2.
data::Dataset ImageRows() {
  Tensor image(DType::kFloat, {kImageRows, 8, 8}), x(DType::kFloat, {kImageRows, 4});
  Tensor word(DType::kString, {kImageRows}), label(DType::kInt64, {kImageRows});
  for (int64_t i = 0; i < kImageRows * 64; ++i) image.data<float>()[i] = ImageNoise(i);
  for (int64_t i = 0; i < kImageRows * 4; ++i) x.data<float>()[i] = ImageNoise(100000 + i);
  for (int64_t i = 0; i < kImageRows; ++i) {
    word.data<std::string>()[i] = "w" + std::to_string((i * 7) % 10);
    label.data<int64_t>()[i] = (i * 5 + i / 7) % 3;
  }
  return data::FromTensorSlices({{"image", image}, {"x", x}, {"word", word}, {"label", label}});
}

struct Trained {
  std::map<std::string, Tensor> variables;
  std::vector<double> losses;
};

MirroredStrategy OnHosts(int count, std::string reduction = "tree") {
  MirroredStrategy strategy{.reduction = std::move(reduction)};
  for (int i = 0; i < count; ++i) strategy.devices.push_back("/cpu:" + std::to_string(i));
  return strategy;
}

std::function<std::pair<Features, Features>()> BatchesOf(const data::GraphIterator& iterator) {
  return [iterator] {
    std::pair<Features, Features> batch;
    const data::ElementOutputs next = iterator.GetNext();
    for (const auto& [name, output] : next.fields()) {
      (name == "label" ? batch.second : batch.first).Set(name, output);
    }
    return batch;
  };
}

Trained Train(const ModelFn& model_fn, const MirroredStrategy& strategy, int total = kTotalBatch) {
  Graph graph;
  const GraphScope use(graph);
  graph.set_seed(1);
  const RunConfig config{.session = SessionFor(strategy, {})};
  const int devices = static_cast<int>(strategy.devices.size());
  const auto iterator = data::OneShotIterator(ImageRows().Repeat().Batch(total / devices));
  const EstimatorSpec spec =
      BuildMirrored(strategy, BatchesOf(iterator), model_fn, Mode::kTrain, {}, config);
  Session session(graph, config.session);
  session.Run(GlobalVariablesInitializer());
  std::vector<Operation> tables;
  for (const Output& table : graph.Collection("table_initializer")) session.Run(Operation(table));
  Trained trained;
  for (int i = 0; i < kSteps; ++i) {
    trained.losses.push_back(session.Run(FeedMap{}, {spec.loss}, {spec.train_op})[0].AsDouble());
  }
  for (const Variable& variable : CollectedVariables()) {
    trained.variables[variable.name()] = session.Run(variable.Read());
  }
  return trained;
}

double Difference(const Tensor& a, const Tensor& b) {
  if (a.dtype() == DType::kInt64) {
    return a.scalar<int64_t>() == b.scalar<int64_t>() ? 0 : INFINITY;
  }
  double most = 0;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double d = std::abs(a.data<float>()[i] - b.data<float>()[i]);
    most = std::isnan(d) ? INFINITY : std::max(most, d);
  }
  return most;
}

void ExpectEqual(const Trained& one, const Trained& many, double tolerance) {
  ASSERT_EQ(one.variables.size(), many.variables.size());
  for (const auto& [name, value] : one.variables) {
    ASSERT_TRUE(many.variables.contains(name)) << name;
    EXPECT_LE(Difference(value, many.variables.at(name)), tolerance) << name;
  }
  for (int i = 0; i < kSteps; ++i) EXPECT_NEAR(one.losses[i], many.losses[i], 1e-4) << i;
}

void ExpectSameOnAnyNumberOfDevices(const ModelFn& model_fn, double tolerance = 1e-4) {
  const Trained one = Train(model_fn, OnHosts(1));
  EXPECT_LT(one.losses.back(), one.losses.front());
  for (const int devices : {2, 4}) {
    for (const char* reduction : {"one_device", "tree", "ring"}) {
      SCOPED_TRACE(std::to_string(devices) + " devices, " + reduction);
      ExpectEqual(one, Train(model_fn, OnHosts(devices, reduction)), tolerance);
    }
  }
}

Operation Update(const train::Optimizer& optimizer, Output loss,
                 const std::vector<Variable>& variables = {}) {
  return optimizer.Minimize(
      loss, {.variables = variables, .global_step = train::GetOrCreateGlobalStep()});
}

Output Images(const ModelFnArgs& args) { return Reshape(args.features["image"], {-1, 8, 8, 1}); }

TEST(MirroredStrategyTest, ConvolutionalNet) {
  ExpectSameOnAnyNumberOfDevices([](const ModelFnArgs& args) {
    Output x = layers::Conv2D(Images(args),
                              {.filters = 4, .kernel = 3, .padding = "SAME", .activation = Relu});
    x = layers::Conv2D(layers::MaxPool2D(x), {.filters = 8, .kernel = 3, .activation = Relu});
    const Output logits = layers::Dense(layers::Flatten(x), {.units = 3});
    const Output loss = losses::SparseSoftmaxCrossEntropy(args.labels["label"], logits);
    return EstimatorSpec{
        .loss = loss,
        .train_op = Update(train::Momentum({.learning_rate = 0.1, .momentum = 0.9}), loss)};
  });
}

TEST(MirroredStrategyTest, DenseNetWithAdamClippingPenaltiesAndAverages) {
  ExpectSameOnAnyNumberOfDevices([](const ModelFnArgs& args) {
    Output x = args.features["x"];
    for (const int64_t units : {16, 8}) {
      x = layers::Dense(
          x, {.units = units, .activation = Relu, .kernel_regularizer = L2Regularizer(0.01f)});
    }
    const Output logits = layers::Dense(x, {.units = 3});
    losses::SparseSoftmaxCrossEntropy(args.labels["label"], logits);
    const Output loss = losses::TotalLoss();
    const Operation update =
        train::Adam({.learning_rate = 0.01})
            .Minimize(loss, {.global_step = train::GetOrCreateGlobalStep(),
                             .transform = [](auto gradients) {
                               return train::ClipAllByGlobalNorm(gradients, 0.1f);
                             }});
    const ControlDependencies after({update});
    train::MovingAverage average({.decay = 0.9f});
    return EstimatorSpec{.loss = loss,
                         .train_op = average.Apply(CollectedVariables(kTrainableVariables))};
  });
}

EstimatorSpec WideAndDeep(const ModelFnArgs& args, losses::Reduction reduction) {
  const auto words = columns::HashBucket("word", 20);
  Output linear, deep;
  {
    const VariableScope scope("linear");
    linear = columns::LinearModel(args.features, {words}, {.units = 3});
  }
  {
    const VariableScope scope("dnn");
    deep = columns::InputLayer(args.features, {columns::Numeric("x", {.shape = {4}}),
                                               columns::Embedding(words, {.dimension = 4})});
    deep = layers::Dense(layers::Dense(deep, {.units = 8, .activation = Relu}), {.units = 3});
  }
  losses::SparseSoftmaxCrossEntropy(args.labels["label"], linear + deep, {.reduction = reduction});
  const Output loss = losses::TotalLoss();
  std::vector<Variable> of_linear, of_deep;
  for (const Variable& variable : CollectedVariables(kTrainableVariables)) {
    (variable.name().starts_with("linear/") ? of_linear : of_deep).push_back(variable);
  }
  const Operation first =
      train::Ftrl({.learning_rate = 0.05}).Minimize(loss, {.variables = of_linear});
  const Operation second = Update(train::Adagrad({.learning_rate = 0.05}), loss, of_deep);
  return {.loss = loss, .train_op = Group({first, second})};
}

TEST(MirroredStrategyTest, WideAndDeepWithRowsOfTablesAndTwoOptimizers) {
  ExpectSameOnAnyNumberOfDevices(
      [](const ModelFnArgs& args) { return WideAndDeep(args, losses::Reduction::kMean); });
}

TEST(MirroredStrategyTest, SumsLossesThatAreSums) {
  ExpectSameOnAnyNumberOfDevices(
      [](const ModelFnArgs& args) { return WideAndDeep(args, losses::Reduction::kSum); });
}

TEST(MirroredStrategyTest, MovesBatchNormalisationOnce) {
  const auto model_fn = [](const ModelFnArgs& args) {
    const Output x = Reshape(args.features["x"], {-1, 4});
    const Output y = layers::BatchNorm(x, {.training = true, .momentum = 0.9f});
    const Output loss =
        losses::SparseSoftmaxCrossEntropy(args.labels["label"], layers::Dense(y, {.units = 3}));
    std::vector<Operation> updates;
    for (const Output& update : CurrentGraph().Collection(kUpdateOps)) updates.push_back(update);
    EXPECT_EQ(updates.size(), 2u);
    const ControlDependencies after(updates);
    return EstimatorSpec{.loss = loss,
                         .train_op = Update(train::GradientDescent({.learning_rate = 0.1}), loss)};
  };
  const Trained one = Train(model_fn, OnHosts(1)), two = Train(model_fn, OnHosts(2));
  // The mean of the batches' means is the mean of the whole batch.
  EXPECT_LE(Difference(one.variables.at("batch_normalization/moving_mean"),
                       two.variables.at("batch_normalization/moving_mean")),
            1e-5);
  // Variances of halves are a little smaller than that of the whole.
  EXPECT_LE(Difference(one.variables.at("batch_normalization/moving_variance"),
                       two.variables.at("batch_normalization/moving_variance")),
            0.1);
  EXPECT_LE(Difference(one.variables.at("dense/kernel"), two.variables.at("dense/kernel")), 0.2);
}

TEST(MirroredStrategyTest, GradientsThatAreNotFromComputeGradientsAreMergedByApply) {
  ExpectSameOnAnyNumberOfDevices([](const ModelFnArgs& args) {
    const Output logits = layers::Dense(args.features["x"], {.units = 3});
    const Output loss = losses::SparseSoftmaxCrossEntropy(args.labels["label"], logits,
                                                          {.reduction = losses::Reduction::kSum});
    std::vector<train::GradientAndVariable> gradients;
    for (const Variable& variable : CollectedVariables(kTrainableVariables)) {
      gradients.push_back({Gradients(loss, {variable.handle()})[0], variable});
    }
    return EstimatorSpec{
        .loss = loss,
        .train_op = train::GradientDescent({.learning_rate = 0.01}).ApplyGradients(gradients)};
  });
}

TEST(MirroredStrategyTest, EvaluatesAllBatches) {
  const auto model_fn = [](const ModelFnArgs& args) {
    const Output logits = args.features["x"] * 3.0;
    const Output labels = args.labels["label"];
    const Output loss = losses::SparseSoftmaxCrossEntropy(labels, logits);
    return EstimatorSpec{
        .loss = loss, .eval_metrics = {{"accuracy", metrics::Accuracy(labels, ArgMax(logits, 1))}}};
  };
  std::vector<std::vector<double>> results;
  // 7 batches: 4 steps of 2 devices, 2 steps of 4 devices, the last ones not full.
  for (const int devices : {1, 2, 4}) {
    Graph graph;
    const GraphScope use(graph);
    const MirroredStrategy strategy = OnHosts(devices);
    const RunConfig config{.session = SessionFor(strategy, {})};
    const auto iterator =
        data::OneShotIterator(FillLastStep(ImageRows().Take(35).Batch(5), devices));
    EstimatorSpec spec =
        BuildMirrored(strategy, BatchesOf(iterator), model_fn, Mode::kEval, {}, config);
    if (devices == 1) spec.eval_metrics.emplace_back("loss", metrics::Mean(spec.loss));
    Session session(graph, config.session);
    session.Run(VariablesInitializer(CollectedVariables(kLocalVariables)));
    std::vector<Operation> updates;
    for (const auto& [name, metric] : spec.eval_metrics) updates.push_back(metric.update);
    int steps = 0;
    try {
      for (;; ++steps) session.Run(FeedMap{}, {}, updates);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kOutOfRange) << e.message();
    }
    EXPECT_EQ(steps, (7 + devices - 1) / devices);
    results.emplace_back();
    for (const auto& [name, metric] : spec.eval_metrics) {
      results.back().push_back(session.Run(metric.value).AsDouble());
    }
  }
  ASSERT_EQ(results[0].size(), 2u);
  for (const auto& result : results) {
    EXPECT_NEAR(result[0], results[0][0], 1e-6);
    EXPECT_NEAR(result[1], results[0][1], 1e-5);
  }
}

TEST(MirroredStrategyTest, SumsWhereTheReductionSays) {
  for (const auto& [reduction, sums] : std::map<std::string, std::vector<int>>{
           {"one_device", {1, 0, 0, 0}}, {"tree", {2, 0, 1, 0}}, {"ring", {3, 3, 3, 3}}}) {
    Graph graph;
    const GraphScope use(graph);
    const MirroredStrategy strategy = OnHosts(4, reduction);
    const auto iterator = data::OneShotIterator(ImageRows().Repeat().Batch(4));
    BuildMirrored(strategy, BatchesOf(iterator),
                  [](const ModelFnArgs& args) {
                    const Output loss = losses::SparseSoftmaxCrossEntropy(
                        args.labels["label"],
                        layers::Dense(args.features["x"], {.units = 3, .use_bias = false}));
                    return EstimatorSpec{
                        .loss = loss,
                        .train_op = Update(train::GradientDescent({.learning_rate = 0.1}), loss)};
                  },
                  Mode::kTrain, {}, {.session = SessionFor(strategy, {})});
    std::vector<int> found(4);
    for (int id = 0; id < graph.num_nodes(); ++id) {
      const Node& node = *graph.node(id);
      if (!node.name().starts_with("merge_gradients/")) continue;
      if (node.type() != "AddN" && node.type() != "AddV2") continue;
      ++found[node.device().back() - '0'];
    }
    EXPECT_EQ(found, sums) << reduction;
  }
}

TEST(MirroredStrategyTest, TakesDevicesFromStrategyOrSession) {
  EXPECT_EQ(DevicesOf({}, {.host_devices = 2}), (std::vector<std::string>{"/cpu:0", "/cpu:1"}));
  EXPECT_EQ(DevicesOf(OnHosts(1), {.host_devices = 2}), (std::vector<std::string>{"/cpu:0"}));
  EXPECT_EQ(SessionFor(OnHosts(3), {.host_devices = 2}).host_devices, 3);
  EXPECT_EQ(SessionFor(OnHosts(1), {.host_devices = 2}).host_devices, 2);
  EXPECT_THROW(DevicesOf({.devices = {"/cpu:0", "/device:CPU:0"}}, {}), Error);
}

}  // namespace
}  // namespace sextant

// Canned estimators against those of tf.compat.v1.estimator 2.15: models whose variables begin at
// zero train to the same values; names are the same for all.
#include "sextant/estimator/canned.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "sextant/base/error.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/graph/graph.h"
#include "sextant/nn/summaries.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/activation.h"
#include "sextant/runtime/session.h"
#include "sextant/train/optimizers.h"
#include "sextant/train/run_state.h"

namespace sextant {
namespace {

using columns::FeatureColumn;

const FeatureColumn kLetters = columns::VocabularyList("c", {"a", "b", "c"});
const FeatureColumn kNumber = columns::Numeric("x");
const FeatureColumn kBuckets = columns::Bucketized(kNumber, {.25f, .6f});

Tensor Classes(const std::vector<int64_t>& ids) {
  Tensor tensor(DType::kInt64, Shape{static_cast<int64_t>(ids.size())});
  std::copy(ids.begin(), ids.end(), tensor.data<int64_t>());
  return tensor;
}

const Tensor kTwo = Classes({0, 1, 1, 0, 0, 1, 1, 0}), kThree = Classes({0, 1, 2, 0, 0, 1, 2, 2});
const Tensor kReal = Tensor::Of<float>({.5f, 1, 2, 0, -1, 1.5f, 2.5f, .25f});

data::Dataset Batches(const Tensor& label) {
  return data::FromTensorSlices(
             {{"c", Tensor::Of<std::string>({"a", "b", "c", "d", "a", "a", "c", "b"})},
              {"x", Tensor::Of<float>({.1f, .5f, .9f, .2f, .4f, .7f, .3f, .8f})},
              {"w", Tensor::Of<float>({1, 2, 1, 1, .5f, 1, 0, 1})},
              {"label", label}})
      .Batch(4);
}

class CannedTest : public testing::Test {
 protected:
  CannedTest()
      : directory_(std::filesystem::path(testing::TempDir()) /
                   (std::string("canned_") +
                    testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::remove_all(directory_);
  }
  ~CannedTest() override { std::filesystem::remove_all(directory_); }

  RunConfig Config() const { return {.model_dir = directory_}; }

  static EvalResult TrainAndMeasure(Estimator& estimator, const Tensor& label, int64_t steps = 4) {
    estimator.Train([&] { return Batches(label).Repeat(); }, {.steps = steps});
    return estimator.Evaluate([&] { return Batches(label); });
  }
  static void ExpectVariable(const Estimator& estimator, const std::string& name,
                             const std::vector<double>& expected) {
    const Tensor value = estimator.VariableValue(name);
    ASSERT_GE(value.num_elements(), static_cast<int64_t>(expected.size())) << name;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(value.data<float>()[i], expected[i], 1e-5 * std::max(1.0, std::fabs(expected[i])))
          << name << " " << i;
    }
  }
  static void ExpectMetrics(const EvalResult& result, const EvalResult& expected) {
    for (const auto& [name, value] : expected) {
      ASSERT_TRUE(result.contains(name)) << name;
      EXPECT_NEAR(result.at(name), value, 2e-5) << name;
    }
    EXPECT_EQ(result.size(), expected.size());
  }
  static std::vector<std::string> Names(const Estimator& estimator) {
    std::vector<std::string> names = estimator.VariableNames();
    std::erase(names, train::RunState::kVariable);
    return names;
  }

  const std::string directory_;
};

TEST_F(CannedTest, LinearClassifierWithWeights) {
  Estimator estimator = LinearClassifier(
      {.feature_columns = {kLetters, kBuckets, kNumber}, .weight_column = "w"}, Config());
  const EvalResult result = TrainAndMeasure(estimator, kTwo);
  ExpectVariable(estimator, "linear/linear_model/bias_weights", {0.0155790401622653});
  ExpectVariable(estimator, "linear/linear_model/bias_weights/part_0/Ftrl", {0.9936481714248657});
  ExpectVariable(estimator, "linear/linear_model/bias_weights/part_0/Ftrl_1",
                 {-0.07764741778373718});
  ExpectVariable(estimator, "linear/linear_model/c/weights",
                 {-0.19585329294204712, 0.11502315104007721, 0.2812691926956177});
  ExpectVariable(estimator, "linear/linear_model/c/weights/part_0/Ftrl_1",
                 {0.7491469383239746, -0.9444328546524048, -1.0052188634872437});
  ExpectVariable(estimator, "linear/linear_model/x/weights", {0.1686832755804062});
  ExpectVariable(estimator, "linear/linear_model/x_bucketized/weights",
                 {-0.3210512101650238, 0.22157533466815948, 0.14352943003177643});
  ExpectMetrics(result, {{"accuracy", 0.8},
                         {"accuracy_baseline", 0.5333333611488342},
                         {"auc", 0.8928568959236145},
                         {"auc_precision_recall", 0.9242421984672546},
                         {"average_loss", 0.5906705260276794},
                         {"label/mean", 0.5333333611488342},
                         {"loss", 2.2150144577026367},
                         {"precision", 0.7272727489471436},
                         {"prediction/mean", 0.5409573912620544},
                         {"recall", 1},
                         {"global_step", 4}});
}

TEST_F(CannedTest, LinearClassifierOfThreeClasses) {
  Estimator estimator = LinearClassifier({.feature_columns = {kLetters, kBuckets},
                                          .n_classes = 3,
                                          .optimizer = "Adam",
                                          .sparse_combiner = "sqrtn"},
                                         Config());
  const EvalResult result = TrainAndMeasure(estimator, kThree);
  ExpectVariable(estimator, "linear/head/beta1_power", {0.59048992395401});
  ExpectVariable(estimator, "linear/linear_model/bias_weights",
                 {0.1967378556728363, -0.5535182952880859, -0.041403502225875854});
  ExpectVariable(estimator, "linear/linear_model/c/weights",
                 {0.6158853769302368, -0.06651068478822708, -0.758084237575531});
  ExpectVariable(estimator, "linear/linear_model/c/weights/part_0/Adam",
                 {-0.07301156967878342, -0.05835597217082977, 0.1313675493001938});
  ExpectMetrics(result, {{"accuracy", 0.875},
                         {"average_loss", 0.5246907472610474},
                         {"loss", 2.0987629890441895},
                         {"global_step", 4}});
}

TEST_F(CannedTest, LinearRegressor) {
  Estimator estimator = LinearRegressor({.feature_columns = {kLetters, kNumber}}, Config());
  const EvalResult result = TrainAndMeasure(estimator, kReal);
  ExpectVariable(estimator, "linear/linear_model/bias_weights", {0.3574039340019226});
  ExpectVariable(estimator, "linear/linear_model/c/weights",
                 {-0.04573848471045494, 0.13246524333953857, 0.511856198310852});
  ExpectMetrics(result, {{"average_loss", 0.8275068998336792},
                         {"label/mean", 0.84375},
                         {"loss", 3.310027599334717},
                         {"prediction/mean", 0.6618072986602783},
                         {"global_step", 4}});
}

TEST_F(CannedTest, Baselines) {
  Estimator classifier = BaselineClassifier({.n_classes = 3}, Config());
  ExpectMetrics(TrainAndMeasure(classifier, kThree), {{"accuracy", 0.375},
                                                      {"average_loss", 1.0824378728866577},
                                                      {"loss", 4.329751491546631},
                                                      {"global_step", 4}});
  ExpectVariable(classifier, "baseline/bias",
                 {0.03432701155543327, -0.33067086338996887, 0.08257082104682922});
  ExpectVariable(classifier, "baseline/bias/Ftrl_1",
                 {-0.15858173370361328, 0.5228219032287598, -0.3623388409614563});
  std::filesystem::remove_all(directory_);
  Estimator regressor = BaselineRegressor({}, Config());
  ExpectMetrics(TrainAndMeasure(regressor, kReal), {{"average_loss", 1.1843854188919067},
                                                    {"label/mean", 0.84375},
                                                    {"loss", 4.737541675567627},
                                                    {"prediction/mean", 0.6322386860847473},
                                                    {"global_step", 4}});
}

TEST_F(CannedTest, CombinedOfLinearColumnsAlone) {
  Estimator estimator =
      DNNLinearCombinedClassifier({.linear_feature_columns = {kLetters, kBuckets}}, Config());
  const EvalResult result = TrainAndMeasure(estimator, kTwo, 2);
  ExpectVariable(estimator, "linear/linear_model/c/weights",
                 {-0.004225770942866802, 0.000990350148640573, 0.007445280905812979});
  ExpectVariable(estimator, "linear/linear_model/c/weights/Ftrl",
                 {0.3499999940395355, 0.6021173000335693, 0.5978915691375732});
  EXPECT_NEAR(result.at("average_loss"), 0.6908371448516846, 1e-5);
}

TEST_F(CannedTest, NamesOfANetworkWithBatchNorm) {
  Estimator estimator =
      DNNClassifier({.feature_columns = {kNumber, columns::Embedding(kLetters, {.dimension = 3})},
                     .hidden_units = {2},
                     .optimizer = train::Adam({.learning_rate = 0.01}),
                     .dropout = 0.2f,
                     .batch_norm = true},
                    Config());
  TrainAndMeasure(estimator, kTwo, 2);
  const std::string table =
      "dnn/input_from_feature_columns/input_layer/c_embedding/"
      "embedding_weights";
  std::vector<std::string> expected = {"dnn/head/beta1_power", "dnn/head/beta2_power"};
  for (const std::string& name :
       {std::string("dnn/hiddenlayer_0/batchnorm_0/beta"),
        std::string("dnn/hiddenlayer_0/batchnorm_0/gamma"), std::string("dnn/hiddenlayer_0/bias"),
        std::string("dnn/hiddenlayer_0/kernel"), table, std::string("dnn/logits/bias"),
        std::string("dnn/logits/kernel")}) {
    expected.insert(expected.end(), {name, name + "/t_0/Adam", name + "/t_0/Adam_1"});
  }
  expected.insert(expected.end(), {"dnn/hiddenlayer_0/batchnorm_0/moving_mean",
                                   "dnn/hiddenlayer_0/batchnorm_0/moving_variance", "global_step"});
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(Names(estimator), expected);
  // The moving averages move by a thousandth a step, of a variance that may be below or above 1.
  const float variance =
      estimator.VariableValue("dnn/hiddenlayer_0/batchnorm_0/moving_variance").data<float>()[0];
  EXPECT_NE(variance, 1.0f);
  EXPECT_GE(variance, 0.998f);  // 0.999 ^ 2 = 0.998001, were both variances 0
}

TEST_F(CannedTest, NamesOfACombinedRegressor) {
  Estimator estimator =
      DNNLinearCombinedRegressor({.linear_feature_columns = {kBuckets},
                                  .linear_optimizer = train::Adam({.learning_rate = 0.01}),
                                  .dnn_feature_columns = {kNumber},
                                  .dnn_optimizer = train::Adam({.learning_rate = 0.01}),
                                  .dnn_hidden_units = {2}},
                                 Config());
  TrainAndMeasure(estimator, kReal, 2);
  std::vector<std::string> expected = {"global_step", "head/beta1_power", "head/beta1_power_1",
                                       "head/beta2_power", "head/beta2_power_1"};
  for (const char* name : {"dnn/hiddenlayer_0/bias", "dnn/hiddenlayer_0/kernel", "dnn/logits/bias",
                           "dnn/logits/kernel", "linear/linear_model/bias_weights",
                           "linear/linear_model/x_bucketized/weights"}) {
    const std::string text = name;
    expected.insert(expected.end(), {text, text + "/Adam", text + "/Adam_1"});
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(Names(estimator), expected);
}

TEST_F(CannedTest, NamesOfALinearModelWithAnEmbedding) {
  Estimator estimator = LinearClassifier(
      {.feature_columns = {columns::Embedding(kLetters, {.dimension = 2})}}, Config());
  TrainAndMeasure(estimator, kTwo, 1);
  std::vector<std::string> expected = {"global_step"};
  for (const char* name :
       {"bias_weights", "c_embedding/embedding_weights", "c_embedding/weights"}) {
    const std::string text = std::string("linear/linear_model/") + name;
    expected.insert(expected.end(), {text, text + "/part_0/Ftrl", text + "/part_0/Ftrl_1"});
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(Names(estimator), expected);
}

TEST_F(CannedTest, CutsTablesForParameterServers) {
  const ModelFn model = LinearModelFn(
      {.feature_columns = {columns::HashBucket("c", 10)}, .partitioner = FixedSizePartitioner(2)},
      heads::Binary());
  Graph graph;
  const GraphScope use(graph);
  Features features, labels;
  features.Set("c", Const(Tensor::Of<std::string>({"a"})));
  labels.Set("label", Const(Tensor::Of<int64_t>({1})));
  model({features, labels, Mode::kTrain, HParams(), RunConfig()});
  EXPECT_NE(graph.FindNode("linear/linear_model/c/weights/part_1"), nullptr);
}

TEST_F(CannedTest, Summaries) {
  const ModelFn model =
      DNNLinearCombinedModelFn({.linear_feature_columns = {kBuckets},
                                .dnn_feature_columns = {kNumber},
                                .dnn_hidden_units = {4}},
                               heads::Binary({.loss_reduction = losses::Reduction::kSum}));
  Graph graph;
  const GraphScope use(graph);
  Features features, labels;
  features.Set("x", Const(Tensor::Of<float>({1})));
  labels.Set("label", Const(Tensor::Of<int64_t>({1})));
  model({features, labels, Mode::kTrain, HParams(), RunConfig()});
  std::vector<std::string> tags;
  for (const Output& summary : graph.Collection(kSummaries)) {
    tags.push_back(*Session(graph).Run(summary.node()->input(0)).data<std::string>());
  }
  EXPECT_EQ(tags, (std::vector<std::string>{
                      "dnn/dnn/hiddenlayer_0/fraction_of_zero_values",
                      "dnn/dnn/hiddenlayer_0/activation", "dnn/dnn/logits/fraction_of_zero_values",
                      "dnn/dnn/logits/activation", "linear/bias", "linear/fraction_of_zero_weights",
                      "linear/linear/fraction_of_zero_values", "linear/linear/activation", "loss",
                      "average_loss"}));
}

TEST_F(CannedTest, WarmStarts) {
  Estimator first = LinearClassifier({.feature_columns = {kLetters, kNumber}}, Config());
  TrainAndMeasure(first, kTwo);
  const std::string second_directory = directory_ + "_second";
  std::filesystem::remove_all(second_directory);
  Estimator second = LinearClassifier({.feature_columns = {kLetters, kNumber},
                                       .optimizer = train::GradientDescent({.learning_rate = 0}),
                                       .warm_start_from = {.checkpoint = directory_}},
                                      {.model_dir = second_directory});
  second.Train([] { return Batches(kTwo); }, {.steps = 1});
  const Tensor expected = first.VariableValue("linear/linear_model/c/weights");
  EXPECT_TRUE(second.VariableValue("linear/linear_model/c/weights").Identical(expected));
  std::filesystem::remove_all(second_directory);
}

TEST_F(CannedTest, SaysWhatDoesNotFit) {
  const auto error = [](const std::function<void()>& act) -> std::string {
    try {
      act();
    } catch (const Error& e) {
      return e.what();
    }
    return "nothing";
  };
  const auto expect = [&](const char* part, const std::function<void()>& act) {
    const std::string text = error(act);
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  const RunConfig config = Config();
  expect("feature_columns", [&] { LinearClassifier({}, config); });
  expect("hidden_units", [&] { DNNClassifier({.feature_columns = {kNumber}}, config); });
  expect("dropout", [&] {
    DNNClassifier({.feature_columns = {kNumber}, .hidden_units = {2}, .dropout = 1}, config);
  });
  expect("n_classes",
         [&] { LinearClassifier({.feature_columns = {kNumber}, .n_classes = 1}, config); });
  expect("Adamant",
         [&] { LinearClassifier({.feature_columns = {kNumber}, .optimizer = "Adamant"}, config); });
  expect("dnn_feature_columns", [&] { DNNLinearCombinedClassifier({}, config); });
  expect("2 words", [&] {
    LinearClassifier({.feature_columns = {kNumber}, .n_classes = 3, .label_vocabulary = {"a", "b"}},
                     config);
  });
  // An unknown feature, and labels out of range, are found when training.
  expect("'height'", [&] {
    LinearClassifier({.feature_columns = {columns::Numeric("height")}}, config)
        .Train([] { return Batches(kTwo); }, {.steps = 1});
  });
  expect("0 to 1", [&] {
    LinearClassifier({.feature_columns = {kNumber}}, config)
        .Train([] { return Batches(kThree); }, {.steps = 1});
  });
  expect("strings", [&] {
    LinearClassifier({.feature_columns = {columns::Numeric("c")}}, config)
        .Train([] { return Batches(kTwo); }, {.steps = 1});
  });
}

}  // namespace
}  // namespace sextant

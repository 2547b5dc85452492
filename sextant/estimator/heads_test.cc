// Losses, metrics and predictions of heads against TensorFlow 2.15's (tf.compat.v1 heads; those of
// tf.estimator for multi-label and multi-head), on two batches of four rows.
#include "sextant/estimator/heads.h"

#include <gtest/gtest.h>

#include <cmath>

#include "sextant/base/error.h"
#include "sextant/graph/graph.h"
#include "sextant/nn/get_variable.h"
#include "sextant/nn/summaries.h"
#include "sextant/ops/array/concat_split.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/array/slice.h"
#include "sextant/ops/math/unary.h"
#include "sextant/runtime/session.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizers.h"

namespace sextant::heads {
namespace {

using Numbers = std::vector<float>;
const Numbers kOneLogit = {0.88f, -0.66f, 4.86f, -0.5f, 0.22f, 3.16f, -1.82f, -1.18f};
const std::vector<int64_t> kTwoClasses = {0, 1, 1, 0, 1, 0, 0, 1};
const Numbers kWeights = {1, 2, .5f, 1, 0, 3, 1, 1.5f};
const Numbers kThreeLogits = {0.38f, -0.66f, -2.39f, -0.41f, -0.72f, 1.21f,  -3.33f, -1.4f,
                              2.3f,  3.71f,  -3.02f, 1.29f,  -1.96f, -1.71f, -1.74f, -0.85f,
                              1.99f, 1.42f,  0.12f,  -0.73f, 0.01f,  -0.21f, 1.59f,  -1.26f};
const std::vector<int64_t> kThreeClasses = {0, 2, 1, 1, 0, 2, 0, 1};

template <typename T>
Tensor Rows(const std::vector<T>& values, int64_t rows) {
  const auto width = static_cast<int64_t>(values.size()) / rows;
  Tensor tensor(DTypeOf<T>, width == 1 ? Shape{rows} : Shape{rows, width});
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}
Tensor Matrix(const Numbers& values, int64_t rows) {
  Tensor tensor(DType::kFloat, Shape{rows, static_cast<int64_t>(values.size()) / rows});
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}
Tensor Words(const std::vector<std::string>& vocabulary, const std::vector<int64_t>& ids) {
  std::vector<std::string> words;
  for (const int64_t id : ids) words.push_back(vocabulary[id]);
  return Rows(words, static_cast<int64_t>(ids.size()));
}

using Fields = std::vector<std::pair<std::string, Tensor>>;

// A head over eight rows that are fed in two halves.
class HeadTest : public testing::Test {
 protected:
  Output Half(const Tensor& whole) {
    std::vector<int64_t> size(whole.shape().dims().begin(), whole.shape().dims().end());
    size[0] = 4;
    Output from = begin_;
    if (whole.rank() == 2) from = Concat({begin_, Const(Tensor::Of<int32_t>({0}))}, 0);
    return Slice(Const(whole), from, ConstInts(size));
  }

  EstimatorSpec Build(const Head& head, const Tensor& logits, const Fields& labels,
                      const Fields& features = {}, Mode mode = Mode::kEval) {
    begin_ = Placeholder(DType::kInt32, PartialShape({1}), "begin");
    const auto fields = [&](const Fields& given) {
      Features result;
      for (const auto& [name, value] : given) result.Set(name, Half(value));
      return result;
    };
    return head.Spec({fields(features), fields(labels), mode, params_, config_}, Half(logits),
                     [](Output) { return Operation(train::GetOrCreateGlobalStep().value()); });
  }

  struct Result {
    std::vector<double> losses;
    std::map<std::string, double> metrics;
  };
  Result Evaluate(const EstimatorSpec& spec) {
    Result result;
    const Operation init = VariablesInitializer(CollectedVariables(kLocalVariables));
    Session session(graph_);
    session.Run(init);
    for (const Output& table : graph_.Collection("table_initializer")) {
      session.Run(Operation(table));
    }
    std::vector<Output> updates = {spec.loss};
    for (const auto& [name, metric] : spec.eval_metrics) updates.push_back(metric.update);
    for (const int32_t begin : {0, 4}) {
      const Tensor at = Tensor::Of<int32_t>({begin});
      result.losses.push_back(session.Run({{begin_, at}}, updates)[0].AsDouble());
      if (begin == 0) first_ = Predict(session, spec, at);
    }
    for (const auto& [name, metric] : spec.eval_metrics) {
      result.metrics[name] = session.Run(metric.value).AsDouble();
    }
    return result;
  }
  std::map<std::string, Tensor> Predict(Session& session, const EstimatorSpec& spec,
                                        const Tensor& begin) {
    std::map<std::string, Tensor> values;
    for (const auto& [name, output] : spec.predictions) {
      values[name] = session.Run({{begin_, begin}}, output);
    }
    return values;
  }
  // What running the loss of the first half complains of.
  std::string ErrorOf(const EstimatorSpec& spec) {
    try {
      Evaluate(spec);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  static void ExpectNear(const Result& result, const std::vector<double>& losses,
                         const std::map<std::string, double>& metrics) {
    ASSERT_EQ(result.losses.size(), losses.size());
    for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(result.losses[i], losses[i], 1e-5);
    EXPECT_EQ(result.metrics.size(), metrics.size());
    for (const auto& [name, value] : metrics) {
      ASSERT_TRUE(result.metrics.contains(name)) << name;
      EXPECT_NEAR(result.metrics.at(name), value, 1e-5) << name;
    }
  }

  Graph graph_;
  GraphScope use_{graph_};
  HParams params_;
  RunConfig config_;
  Output begin_;
  std::map<std::string, Tensor> first_;  // predictions of the first half
};

TEST_F(HeadTest, BinaryWithWeightsAndThresholds) {
  const Head head = Binary({.weight_column = "w",
                            .loss_reduction = losses::Reduction::kSum,
                            .thresholds = {0.25f, 0.75f}});
  const EstimatorSpec spec =
      Build(head, Matrix(kOneLogit, 8), {{"y", Rows(kTwoClasses, 8)}}, {{"w", Rows(kWeights, 8)}});
  ExpectNear(Evaluate(spec), {3.858186721801758, 11.926737785339355},
             {{"average_loss", 1.5784924030303955},
              {"accuracy", 0.25},
              {"precision", 0.1111111119389534},
              {"recall", 0.125},
              {"prediction/mean", 0.5631911158561707},
              {"label/mean", 0.4},
              {"accuracy_baseline", 0.6},
              {"auc", 0.27083346247673035},
              {"auc_precision_recall", 0.37689393758773804},
              {"accuracy/positive_threshold_0.25", 0.35},
              {"precision/positive_threshold_0.25", 0.3333333432674408},
              {"recall/positive_threshold_0.25", 0.625},
              {"accuracy/positive_threshold_0.75", 0.35},
              {"precision/positive_threshold_0.75", 0.1428571492433548},
              {"recall/positive_threshold_0.75", 0.125}});
  EXPECT_NEAR(first_["logistic"].data<float>()[0], 0.7068222f, 1e-6);
  EXPECT_NEAR(first_["probabilities"].data<float>()[0], 0.2931778f, 1e-6);
  EXPECT_EQ(first_["class_ids"].shape(), Shape({4, 1}));
  EXPECT_EQ(first_["class_ids"].data<int64_t>()[1], 0);
  EXPECT_EQ(first_["classes"].data<std::string>()[0], "1");
  EXPECT_EQ(first_["all_class_ids"].shape(), Shape({4, 2}));
  EXPECT_EQ(first_["all_classes"].data<std::string>()[3], "1");
}

TEST_F(HeadTest, BinaryAddsRegularizationAndItsName) {
  graph_.AddToCollection(kRegularizationLosses, Const(Tensor(0.5f)));
  graph_.AddToCollection(kRegularizationLosses, Const(Tensor(0.25f)));
  const Head head =
      Binary({.weight_column = "w", .loss_reduction = losses::Reduction::kMean, .name = "b"});
  const Result result = Evaluate(
      Build(head, Matrix(kOneLogit, 8), {{"y", Rows(kTwoClasses, 8)}}, {{"w", Rows(kWeights, 8)}}));
  EXPECT_NEAR(result.losses[0], 1.607374906539917, 1e-5);
  EXPECT_NEAR(result.losses[1], 2.9184978008270264, 1e-5);
  EXPECT_NEAR(result.metrics.at("regularization_loss/b"), 0.75, 1e-6);
  EXPECT_NEAR(result.metrics.at("auc_precision_recall/b"), 0.37689393758773804, 1e-5);
}

TEST_F(HeadTest, BinaryOfWords) {
  const Head head = Binary({.label_vocabulary = {"no", "yes"}});
  const EstimatorSpec spec =
      Build(head, Matrix(kOneLogit, 8), {{"y", Words({"no", "yes"}, kTwoClasses)}});
  const Result result = Evaluate(spec);
  EXPECT_NEAR(result.losses[0], 0.6963526010513306, 1e-5);
  EXPECT_NEAR(result.losses[1], 1.3472119569778442, 1e-5);
  EXPECT_NEAR(result.metrics.at("accuracy"), 0.5, 1e-6);
  EXPECT_EQ(first_["classes"].data<std::string>()[0], "yes");
  EXPECT_EQ(first_["all_classes"].data<std::string>()[0], "no");
}

TEST_F(HeadTest, MultiClassWithWeights) {
  const Head head =
      MultiClass(3, {.weight_column = "w", .loss_reduction = losses::Reduction::kSum});
  const EstimatorSpec spec = Build(head, Matrix(kThreeLogits, 8), {{"y", Rows(kThreeClasses, 8)}},
                                   {{"w", Rows(kWeights, 8)}});
  ExpectNear(Evaluate(spec), {9.618043899536133, 4.309689044952393},
             {{"average_loss", 1.3927732706069946}, {"accuracy", 0.55}});
  EXPECT_NEAR(first_["probabilities"].data<float>()[5], 0.7445756f, 1e-6);
  EXPECT_EQ(first_["class_ids"].data<int64_t>()[1], 2);
}

TEST_F(HeadTest, MultiClassOfWords) {
  const Head head = MultiClass(3, {.label_vocabulary = {"a", "b", "c"}});
  const EstimatorSpec spec =
      Build(head, Matrix(kThreeLogits, 8), {{"y", Words({"a", "b", "c"}, kThreeClasses)}});
  ExpectNear(Evaluate(spec), {2.7967655658721924, 0.8401448130607605},
             {{"average_loss", 1.8184552192687988}, {"accuracy", 0.5}});
  EXPECT_EQ(first_["classes"].data<std::string>()[1], "c");
}

TEST_F(HeadTest, RegressionOfTwoNumbersWithAWeightEach) {
  const Numbers logits = {-.01f, -.1f,  -.05f, .25f, .2f,  1.33f, -.09f, 1.56f,
                          -.31f, -.48f, .1f,   .36f, .27f, 1.29f, 1.14f, .49f};
  const Numbers labels = {-.34f, -.1f,  1.41f, .22f, -1.31f, -.69f, -.58f, 1.15f,
                          -.11f, 2.26f, .66f,  .12f, -.44f,  .97f,  -.24f, -.82f};
  const Numbers weights = {.57f,  .01f, 1.19f, .07f, 2.86f, .79f, 1.88f, 1.54f,
                           1.82f, .43f, 1.16f, 1.4f, .87f,  .2f,  .6f,   .24f};
  const EstimatorSpec spec = Build(
      Regression(
          {.label_dimension = 2, .weight_column = "w2", .loss_reduction = losses::Reduction::kSum}),
      Matrix(logits, 8), {{"y", Matrix(labels, 8)}}, {{"w2", Matrix(weights, 8)}});
  ExpectNear(Evaluate(spec), {13.05360221862793, 5.759034633636475},
             {{"average_loss", 1.203623652458191},
              {"prediction/mean", 0.316769003868103},
              {"label/mean", -0.059948790818452835}});

  const EstimatorSpec exponential =
      Build(Regression({.label_dimension = 2,
                        .weight_column = "w",
                        .loss_reduction = losses::Reduction::kSum,
                        .inverse_link = [](Output x) { return Exp(x); },
                        .name = "e"}),
            Matrix(logits, 8), {{"y", Matrix(labels, 8)}}, {{"w", Rows(kWeights, 8)}});
  ExpectNear(Evaluate(exponential), {7.962348937988281, 7.15084981918335},
             {{"average_loss/e", 0.7556599378585815},
              {"prediction/mean/e", 1.7118126153945923},
              {"label/mean/e", 0.1835000067949295}});
}

const std::vector<int64_t> kAnyClasses = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0,
                                          0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1};

TEST_F(HeadTest, MultiLabel) {
  const Head head = MultiLabel(3, {.weight_column = "w", .thresholds = {0.5f}});
  const EstimatorSpec spec = Build(head, Matrix(kThreeLogits, 8), {{"y", Rows(kAnyClasses, 8)}},
                                   {{"w", Rows(kWeights, 8)}});
  const Result result = Evaluate(spec);
  EXPECT_NEAR(result.losses[0], 1.0678434371948242, 1e-5);
  EXPECT_NEAR(result.losses[1], 1.868859052658081, 1e-5);
  EXPECT_NEAR(result.metrics.at("average_loss"), 1.1746809482574463, 1e-5);
  EXPECT_NEAR(result.metrics.at("auc"), 0.2420814484357834, 1e-4);
  EXPECT_NEAR(result.metrics.at("auc_precision_recall"), 0.48077696561813354, 1e-4);
  EXPECT_NEAR(result.metrics.at("accuracy/positive_threshold_0.5"), 0.3, 1e-6);
  EXPECT_NEAR(result.metrics.at("precision/positive_threshold_0.5"), 0.36666667461395264, 1e-6);
  EXPECT_NEAR(result.metrics.at("recall/positive_threshold_0.5"), 0.3235294222831726, 1e-6);
  EXPECT_EQ(first_["classes"].data<std::string>()[2], "2");
}

TEST_F(HeadTest, MultiLabelOfSparseWordsAndIds) {
  const auto loss = [&](Output values, const ClassOptions& options) {
    const SparseTensor sparse{Const(Rows<int64_t>({0, 0, 0, 1, 0, 2, 1, 0, 1, 1}, 5)), values,
                              Const(Tensor::Of<int64_t>({3, 3}))};
    Features labels;
    labels.Set("y", sparse);
    const Output logits = Const(Matrix({1, -1, 2, -3}, 2));
    const EstimatorSpec spec =
        MultiLabel(2, options)
            .Spec({Features(), labels, Mode::kEval, params_, config_}, logits, train::Optimizer());
    Session session(graph_);
    for (const Output& table : graph_.Collection("table_initializer")) {
      session.Run(Operation(table));
    }
    return session.Run(spec.loss).AsDouble();
  };
  // Row 0 has classes 0 and 1 (1 twice), row 1 class 0 twice.
  const auto cost = [](double x, double y) {
    return std::max(x, 0.0) - x * y + std::log1p(std::exp(-std::fabs(x)));
  };
  const double expected = (cost(1, 1) + cost(-1, 1) + cost(2, 1) + cost(-3, 0)) / 4;
  EXPECT_NEAR(loss(Const(Tensor::Of<int64_t>({0, 1, 1, 0, 0})), {}), expected, 1e-6);
  EXPECT_NEAR(loss(Const(Tensor::Of<std::string>({"a", "b", "b", "a", "a"})),
                   {.label_vocabulary = {"a", "b"}}),
              expected, 1e-6);
}

TEST_F(HeadTest, MultiHeadSumsUp) {
  Numbers both;
  for (int i = 0; i < 8; ++i) {
    both.push_back(kOneLogit[i]);
    both.insert(both.end(), kThreeLogits.begin() + 3 * i, kThreeLogits.begin() + 3 * i + 3);
  }
  const Head head =
      MultiHead({Binary({.name = "b"}), MultiClass(3, {.name = "m"})}, {.weights = {1, 2}});
  EXPECT_EQ(head.logits_dimension(), 4);
  EXPECT_EQ(head.name(), "b_m");
  const EstimatorSpec spec =
      Build(head, Matrix(both, 8), {{"b", Rows(kTwoClasses, 8)}, {"m", Rows(kThreeClasses, 8)}});
  const Result result = Evaluate(spec);
  EXPECT_NEAR(result.losses[0], 6.289883613586426, 1e-5);
  EXPECT_NEAR(result.losses[1], 3.0275015830993652, 1e-5);
  EXPECT_NEAR(result.metrics.at("loss/b"), 1.0217822790145874, 1e-5);
  EXPECT_NEAR(result.metrics.at("loss/m"), 1.8184552192687988, 1e-5);
  EXPECT_NEAR(result.metrics.at("accuracy/m"), 0.5, 1e-6);
  EXPECT_NEAR(first_["m/probabilities"].data<float>()[5], 0.7445756f, 1e-6);
  std::vector<std::string> signatures;
  for (const auto& [name, output] : spec.export_outputs) signatures.push_back(name);
  EXPECT_EQ(signatures, (std::vector<std::string>{"serving_default", "b", "b/classification",
                                                  "b/predict", "b/regression", "m",
                                                  "m/classification", "m/predict", "predict"}));
}

TEST_F(HeadTest, SignaturesOfABinaryHead) {
  const EstimatorSpec spec = Build(Binary({}), Matrix(kOneLogit, 8), {}, {}, Mode::kPredict);
  std::vector<std::string> signatures;
  for (const auto& [name, output] : spec.export_outputs) signatures.push_back(name);
  EXPECT_EQ(signatures, (std::vector<std::string>{"serving_default", "classification", "predict",
                                                  "regression"}));
  EXPECT_EQ(spec.export_outputs[0].second.kind, ExportOutput::Kind::kClassify);
  EXPECT_EQ(spec.export_outputs[0].second.outputs[1].first, "classes");
  EXPECT_EQ(spec.export_outputs[0].second.outputs[1].second.dtype(), DType::kString);
}

TEST_F(HeadTest, TrainsAfterUpdateOpsAndSummarises) {
  const Variable w = GetVariable("w", {.shape = {1, 1}, .initializer = initializers::Zeros()});
  const Variable moved("moved", Tensor(0.0f), {.trainable = false});
  graph_.AddToCollection(kUpdateOps, moved.AssignAdd(Const(Tensor(1.0f))));
  Features labels;
  labels.Set("y", Const(Tensor::Of<int64_t>({1})));
  const EstimatorSpec spec = Binary({.loss_reduction = losses::Reduction::kSum})
                                 .Spec({Features(), labels, Mode::kTrain, params_, config_},
                                       w.value(), train::GradientDescent({.learning_rate = 2}));
  std::vector<std::string> tags;
  for (const Output& summary : graph_.Collection(kSummaries)) {
    tags.push_back(*Session(graph_).Run(summary.node()->input(0)).data<std::string>());
  }
  EXPECT_EQ(tags, (std::vector<std::string>{"loss", "average_loss"}));
  const Operation init = GlobalVariablesInitializer();
  Session session(graph_);
  session.Run(init);
  EXPECT_NEAR(session.Run(spec.loss).AsDouble(), std::log(2.0), 1e-6);
  session.Run(spec.train_op);
  // The gradient is sigmoid(0) - 1 = -0.5.
  EXPECT_EQ(session.Run(w.value()).data<float>()[0], 1.0f);
  EXPECT_EQ(session.Run(moved.value()).AsDouble(), 1);
  EXPECT_EQ(session.Run(train::GetGlobalStep(graph_).value()).AsDouble(), 1);
}

TEST_F(HeadTest, NamesTheLabelThatIsOutOfRange) {
  std::vector<int64_t> labels = kThreeClasses;
  labels[2] = 7;
  const std::string multi =
      ErrorOf(Build(MultiClass(3), Matrix(kThreeLogits, 8), {{"y", Rows(labels, 8)}}));
  EXPECT_NE(multi.find("0 to 2"), std::string::npos) << multi;
  EXPECT_NE(multi.find("[7]"), std::string::npos) << multi;
  labels[2] = -1;
  const std::string binary =
      ErrorOf(Build(Binary(), Matrix(kOneLogit, 8), {{"y", Rows(labels, 8)}}));
  EXPECT_NE(binary.find("0 to 1"), std::string::npos) << binary;
  const std::string words =
      ErrorOf(Build(MultiClass(3, {.label_vocabulary = {"a", "b", "x"}}), Matrix(kThreeLogits, 8),
                    {{"y", Words({"a", "b", "c"}, kThreeClasses)}}));
  EXPECT_NE(words.find("'a' 'b' 'x'"), std::string::npos) << words;
  EXPECT_NE(words.find("[c]"), std::string::npos) << words;
}

TEST_F(HeadTest, SaysWhatDoesNotFit) {
  const auto error = [](const std::function<void()>& act) -> std::string {
    try {
      act();
    } catch (const Error& e) {
      return e.what();
    }
    return "nothing";
  };
  const Fields y = {{"y", Rows(kThreeClasses, 8)}};
  EXPECT_NE(error([] { MultiClass(2); }).find("above 2"), std::string::npos);
  EXPECT_NE(error([] { MultiClass(3, {.label_vocabulary = {"a"}}); }).find("1 words"),
            std::string::npos);
  EXPECT_NE(error([] { Binary({.thresholds = {1}}); }).find("(0, 1)"), std::string::npos);
  EXPECT_NE(error([&] { Build(MultiClass(4), Matrix(kThreeLogits, 8), y); }).find("[batch, 4]"),
            std::string::npos);
  EXPECT_NE(error([&] { Build(MultiClass(3), Matrix(kThreeLogits, 8), {}); }).find("no labels"),
            std::string::npos);
  EXPECT_NE(error([&] {
              Build(MultiClass(3, {.weight_column = "v"}), Matrix(kThreeLogits, 8), y,
                    {{"w", Rows(kWeights, 8)}});
            }).find("'v'"),
            std::string::npos);
  EXPECT_NE(error([&] {
              Build(MultiClass(3), Matrix(kThreeLogits, 8),
                    {{"y", Words({"a", "b", "c"}, kThreeClasses)}});
            }).find("label_vocabulary"),
            std::string::npos);
  EXPECT_NE(error([] { MultiHead({Binary()}); }).find("names"), std::string::npos);
}

}  // namespace
}  // namespace sextant::heads

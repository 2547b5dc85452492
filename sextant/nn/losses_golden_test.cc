// Every loss by every reduction, with and without weights, as TensorFlow gives it.
#include <cmath>
#include <map>

#include "sextant/graph/gradients.h"
#include "sextant/nn/get_variable.h"
#include "sextant/nn/golden_values.h"
#include "sextant/nn/losses.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/runtime/session.h"

namespace sextant::losses {
namespace {

using Loss = Output (*)(Output, Output, const LossOptions&);
const std::map<std::string, Loss> kLossFunctions = {
    {"sparse_softmax_cross_entropy", SparseSoftmaxCrossEntropy},
    {"softmax_cross_entropy", SoftmaxCrossEntropy},
    {"sigmoid_cross_entropy", SigmoidCrossEntropy},
    {"mean_squared_error", MeanSquaredError},
    {"absolute_difference", AbsoluteDifference},
    {"huber_loss", [](Output a, Output b, const LossOptions& o) { return HuberLoss(a, b, 1, o); }},
    {"log_loss", [](Output a, Output b, const LossOptions& o) { return LogLoss(a, b, 1e-7F, o); }},
    {"hinge_loss", HingeLoss},
};
const std::map<std::string, Reduction> kReductions = {
    {"none", Reduction::kNone},
    {"sum", Reduction::kSum},
    {"mean", Reduction::kMean},
    {"sum_over_batch_size", Reduction::kSumOverBatchSize},
    {"sum_by_nonzero_weights", Reduction::kSumByNonzeroWeights},
};

TEST(LossesGoldenTest, AsTensorFlow) {
  for (const auto& loss : GoldenValues("losses")) {
    const std::string name = loss.at("name"), reduction = loss.at("reduction");
    Graph graph;
    const GraphScope scope(graph);
    LossOptions options = {.reduction = kReductions.at(reduction)};
    if (loss.contains("weights")) options.weights = Const(GoldenTensor(loss.at("weights")));
    const Output value =
        kLossFunctions.at(name)(Const(GoldenTensor(loss.at("labels"))),
                                Const(GoldenTensor(loss.at("predictions"))), options);
    ExpectGolden(Session(graph).Run(value), loss.at("value"), name + " " + reduction);
    EXPECT_EQ(graph.Collection(kLosses).size(), 1U) << name;
  }
}

// log 2 and a slope of sigmoid(0) = 1/2 at 0; neither e^200 nor a slope of 0.
TEST(LossesGoldenTest, SigmoidCrossEntropyOfElements) {
  Graph graph;
  const GraphScope scope(graph);
  const Output logits = Const(Tensor::Of<float>({-200, 0, 200}));
  const Output loss = SigmoidCrossEntropyWithLogits(logits, Const(Tensor::Of<float>({1, 0, 0})));
  Session session(graph);
  const Tensor values = session.Run(loss), slopes = session.Run(Gradients(loss, {logits})[0]);
  const float expected[] = {200, std::log(2.0F), 200}, slope[] = {-1, 0.5F, 1};
  for (int i = 0; i < 3; ++i) {
    EXPECT_FLOAT_EQ(values.flat<float>()[i], expected[i]);
    EXPECT_FLOAT_EQ(slopes.flat<float>()[i], slope[i]);
  }
}

// A weight per row: [2, 1] for losses [2], [2] for losses [2, 1].
TEST(LossesGoldenTest, WeightsOfOneDimensionMoreOrLess) {
  Graph graph;
  const GraphScope scope(graph);
  const Output column = Const(Tensor::Of<float>({2, 1}, {1, 3}));
  const Output row = Const(Tensor::Of<float>({1, 3}));
  const Output weights = Const(Tensor::Of<float>({2, 0}));
  const Output weight_column = Const(Tensor::Of<float>({2, 1}, {2, 0}));
  Session session(graph);
  for (const auto& weighted : {std::pair(column, weights), std::pair(row, weight_column)}) {
    const auto value = [&](Reduction reduction) {
      const Output loss =
          ComputeWeightedLoss(weighted.first, {.weights = weighted.second, .reduction = reduction});
      return session.Run(loss).scalar<float>();
    };
    EXPECT_FLOAT_EQ(value(Reduction::kSum), 2);
    EXPECT_FLOAT_EQ(value(Reduction::kMean), 1);
    EXPECT_FLOAT_EQ(value(Reduction::kSumOverBatchSize), 1);
    EXPECT_FLOAT_EQ(value(Reduction::kSumByNonzeroWeights), 2);
  }
  EXPECT_TRUE(graph.Collection(kLosses).empty());
}

TEST(LossesGoldenTest, TotalsAddCollections) {
  Graph graph;
  const GraphScope scope(graph);
  EXPECT_FALSE(TotalLoss());
  EXPECT_FALSE(RegularizationLoss());
  const Output one = Const(Tensor::Of<float>({1, 3})), zero = Const(Tensor::Of<float>({0, 0}));
  MeanSquaredError(one, zero);    // (1 + 9) / 2
  AbsoluteDifference(one, zero);  // (1 + 3) / 2
  GetVariable("w", {.shape = {2},
                    .initializer = initializers::Constant(2),
                    .regularizer = L1L2Regularizer(0.5F, 1)});  // 0.5 * 4 + (4 + 4) / 2
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  EXPECT_FLOAT_EQ(session.Run(RegularizationLoss()).scalar<float>(), 6);
  EXPECT_FLOAT_EQ(session.Run(TotalLoss(false)).scalar<float>(), 7);
  EXPECT_FLOAT_EQ(session.Run(TotalLoss()).scalar<float>(), 13);
}

TEST(LossesGoldenTest, ShapesThatDoNotFitAreErrors) {
  Graph graph;
  const GraphScope scope(graph);
  const Output a = Ones({2, 3}), b = Ones({2, 2});
  for (const auto& [name, loss] : kLossFunctions) {
    EXPECT_THROW(Session(graph).Run(loss(a, b, {})), Error) << name;
  }
  EXPECT_THROW(Session(graph).Run(MeanSquaredError(a, a, {.weights = Ones({3, 1})})), Error);
}

}  // namespace
}  // namespace sextant::losses

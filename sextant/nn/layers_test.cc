#include "sextant/nn/layers.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/nn/losses.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/activation.h"
#include "sextant/runtime/session.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class LayersTest : public testing::Test {
 protected:
  // Names of the variables in the graph, in order.
  static std::vector<std::string> VariableNames() {
    std::vector<std::string> names;
    for (const Variable& variable : CollectedVariables()) names.push_back(variable.name());
    return names;
  }
  Tensor Run(Output y) {
    Session session(graph_);
    session.Run(GlobalVariablesInitializer());
    return session.Run(y);
  }
  static Output Ones(const Shape& shape) { return sextant::Ones(shape); }

  Graph graph_;
  GraphScope scope_{graph_};
};

using Names = std::vector<std::string>;

TEST_F(LayersTest, NamesCountWithinTheEnclosingScope) {
  layers::Dense(Ones({1, 2}), {.units = 3});
  layers::Dense(Ones({1, 2}), {.units = 3});
  layers::Dense(Ones({1, 2}), {.units = 3, .use_bias = false, .name = "last"});
  {
    const VariableScope scope("tower");
    layers::Dense(Ones({1, 2}), {.units = 3, .use_bias = false});
    layers::Dense(Ones({1, 2}), {.units = 3, .use_bias = false});
  }
  EXPECT_EQ(VariableNames(), (Names{"dense/kernel", "dense/bias", "dense_1/kernel", "dense_1/bias",
                                    "last/kernel", "tower/dense/kernel", "tower/dense_1/kernel"}));
}

TEST_F(LayersTest, EnteringAScopeAgainFindsTheSameVariables) {
  for (const Reuse reuse : {Reuse::kInherit, Reuse::kTrue}) {
    const VariableScope scope("tower", reuse);
    layers::Conv2D(Ones({1, 4, 4, 1}), {.filters = 2, .use_bias = false});
    layers::Conv2D(Ones({1, 4, 4, 1}), {.filters = 2, .use_bias = false});
  }
  EXPECT_EQ(VariableNames(), (Names{"tower/conv2d/kernel", "tower/conv2d_1/kernel"}));
}

TEST_F(LayersTest, DenseMultipliesTheLastDimension) {
  const Output y =
      layers::Dense(Ones({2, 3, 4}), {.units = 5,
                                      .activation = Relu,
                                      .kernel_initializer = initializers::Constant(0.5),
                                      .bias_initializer = initializers::Constant(-1)});
  const Tensor value = Run(y);
  EXPECT_EQ(value.shape(), Shape({2, 3, 5}));
  for (const float x : value.flat<float>()) EXPECT_EQ(x, 1.0f);
}

TEST_F(LayersTest, ConvolutionsHaveTensorFlowsShapes) {
  const Output x = Ones({2, 5, 5, 3});
  EXPECT_EQ(Run(layers::Conv2D(x, {.filters = 4, .kernel = {3, 2}, .strides = 2})).shape(),
            Shape({2, 2, 2, 4}));
  EXPECT_EQ(Run(layers::Conv2DTranspose(x, {.filters = 4, .strides = 2})).shape(),
            Shape({2, 11, 11, 4}));
  EXPECT_EQ(
      Run(layers::Conv2DTranspose(x, {.filters = 4, .strides = 2, .padding = "same"})).shape(),
      Shape({2, 10, 10, 4}));
  EXPECT_EQ(Run(layers::SeparableConv2D(x, {.filters = 4, .multiplier = 2})).shape(),
            Shape({2, 3, 3, 4}));
  EXPECT_EQ(Run(layers::DepthwiseConv2D(x, {.padding = "SAME", .multiplier = 2})).shape(),
            Shape({2, 5, 5, 6}));
  EXPECT_EQ(Run(layers::Conv1D(Ones({2, 7, 3}), {.filters = 4, .kernel = 3, .strides = 2})).shape(),
            Shape({2, 3, 4}));
  EXPECT_EQ(VariableNames().front(), "conv2d/kernel");
}

TEST_F(LayersTest, BatchNormMovesItsAveragesByUpdateOps) {
  // Rows 0 and 2: mean 1, variance 1, by hand.
  const Output x = Const(Tensor::Of<float>({2, 1}, {0, 2}));
  const Output y = layers::BatchNorm(x, {.training = true, .momentum = 0.9f, .epsilon = 0});
  Session session(graph_);
  session.Run(GlobalVariablesInitializer());
  const Tensor value = session.Run(y);
  EXPECT_FLOAT_EQ(value.data<float>()[0], -1);
  EXPECT_FLOAT_EQ(value.data<float>()[1], 1);
  const std::vector<Output> updates = graph_.Collection(kUpdateOps);
  ASSERT_EQ(updates.size(), 2u);
  for (const Output& update : updates) session.Run(Operation(update.node()));
  const auto read = [&](const char* name) {
    return session.Run(Variable::FromHandle(graph_.FindOutput(name)).value()).data<float>()[0];
  };
  EXPECT_FLOAT_EQ(read("batch_normalization/moving_mean:0"), 0.1f);
  EXPECT_FLOAT_EQ(read("batch_normalization/moving_variance:0"), 1.0f);
}

TEST_F(LayersTest, RegularizersAreCollectedOnce) {
  for (const Reuse reuse : {Reuse::kFalse, Reuse::kTrue}) {
    const VariableScope scope("a", reuse);
    layers::Dense(Ones({1, 2}), {.units = 1,
                                 .kernel_initializer = initializers::Constant(2),
                                 .kernel_regularizer = L2Regularizer(0.5f)});
  }
  const std::vector<Output> penalties = graph_.Collection(kRegularizationLosses);
  ASSERT_EQ(penalties.size(), 1u);
  EXPECT_FLOAT_EQ(Run(penalties[0]).scalar<float>(), 0.5f * (4 + 4) / 2);
}

TEST_F(LayersTest, PartsOfAVariableAreCutFromOneInitialValue) {
  const PartitionedVariable parts = GetPartitionedVariable(
      "w",
      {.shape = {5, 1}, .initializer = initializers::Value(Tensor::Of<float>({1, 2, 3, 4, 5}))},
      FixedSizePartitioner(2));
  EXPECT_EQ(VariableNames(), (Names{"w/part_0", "w/part_1"}));
  const Tensor value = Run(parts);
  EXPECT_EQ(std::vector<float>(value.data<float>(), value.data<float>() + 5),
            (std::vector<float>{1, 2, 3, 4, 5}));
  const VariableSlice* slice = SliceOf(parts.parts()[1]);
  ASSERT_NE(slice, nullptr);
  EXPECT_EQ(slice->full_name, "w");
  EXPECT_EQ(slice->offset, (std::vector<int64_t>{3, 0}));
}

// The same with sizes that only a run tells.
TEST_F(LayersTest, UnknownSizesGiveTheSameValues) {
  std::vector<float> numbers(2 * 3 * 4 * 2);
  for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = 0.25f * static_cast<float>(i) - 3;
  const Output known = Const(Tensor::FromVector(numbers).Reshaped({2, 3, 4, 2}));
  const auto unknown = [&](const PartialShape& shape) {
    return PlaceholderWithDefault(known, shape);
  };
  const auto expect_same = [&](const PartialShape& shape,
                               const std::function<Output(Output)>& layer) {
    Output one, other;
    {
      const VariableScope scope("same", Reuse::kAuto);
      one = layer(known);
    }
    {
      const VariableScope scope("same", Reuse::kAuto);
      other = layer(unknown(shape));
    }
    EXPECT_FALSE(other.shape().fully_known());
    Session session(graph_);
    session.Run(GlobalVariablesInitializer());
    EXPECT_TRUE(session.Run(one).Identical(session.Run(other))) << shape.ToString();
  };
  const auto dense = [](Output x) { return layers::Dense(x, {.units = 5, .name = "dense"}); };
  expect_same({-1, 3, -1, 2}, dense);
  const auto flatten = [](Output x) { return layers::Flatten(x); };
  expect_same({2, -1, 4, 2}, flatten);
  expect_same({-1, -1, 4, 2}, flatten);
  for (const char* padding : {"valid", "same"}) {
    expect_same({-1, -1, -1, 2}, [&](Output x) {
      return layers::Conv2DTranspose(
          x, {.filters = 3, .kernel = {3, 2}, .strides = {2, 3}, .padding = padding, .name = "up"});
    });
  }
}

// By hand: (x - 3) / sqrt(4) * 2 + 1, and the variables' names.
TEST_F(LayersTest, BatchNormBeginsWithTheGivenAverages) {
  const Output x = Const(Tensor::Of<float>({2, 1}, {1, 7}));
  const Output y = layers::BatchNorm(x, {.epsilon = 0,
                                         .beta_initializer = initializers::Constant(1),
                                         .gamma_initializer = initializers::Constant(2),
                                         .moving_mean_initializer = initializers::Constant(3),
                                         .moving_variance_initializer = initializers::Constant(4)});
  EXPECT_TRUE(Run(y).Identical(Tensor::Of<float>({2, 1}, {-1, 5})));
}

TEST_F(LayersTest, SaysWhatDoesNotFit) {
  const auto says = [](const std::string& part, const std::function<void()>& act) {
    const Status status = StatusOf(act);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find(part), std::string::npos) << status.ToString();
  };
  says("data_format 'CHWN' is neither NHWC nor NCHW", [] {
    layers::Conv2D(Ones({1, 4, 4, 1}), {.filters = 2, .data_format = "CHWN"});
  });
  says("known rank of at least 2, the shape is [3]", [] { layers::BatchNorm(Ones({3})); });
  says("known rank of at least 2", [] { layers::BatchNorm(Placeholder(DType::kFloat, {})); });
}

TEST_F(LayersTest, UnknownSizesAreNamed) {
  const Output x = Placeholder(DType::kFloat, PartialShape({-1, -1}), "x");
  try {
    layers::Dense(x, {.units = 2});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(std::string(e.what()).find("x:0"), std::string::npos) << e.what();
  }
}

TEST_F(LayersTest, WeightedLossesDivideAsTensorFlowDoes) {
  const Output labels = Const(Tensor::Of<float>({1, 2, 3, 4}));
  const Output predictions = Const(Tensor::Of<float>({1, 3, 5, 8}));  // squares 0, 1, 4, 16
  const Output weights = Const(Tensor::Of<float>({1, 0, 2, 0.5f}));   // weighted 0, 0, 8, 8
  const auto loss = [&](losses::Reduction reduction) {
    return Run(losses::MeanSquaredError(labels, predictions,
                                        {.weights = weights, .reduction = reduction}))
        .scalar<float>();
  };
  EXPECT_FLOAT_EQ(loss(losses::Reduction::kSum), 16);
  EXPECT_FLOAT_EQ(loss(losses::Reduction::kMean), 16 / 3.5f);
  EXPECT_FLOAT_EQ(loss(losses::Reduction::kSumOverBatchSize), 4);
  EXPECT_FLOAT_EQ(loss(losses::Reduction::kSumByNonzeroWeights), 16 / 3.0f);
  // Weights may be integers, and ranks unknown: (0 + 4 * 2) / 2 by hand.
  const Output any = PlaceholderWithDefault(Const(Tensor::Of<float>({0, 2})), {});
  EXPECT_FLOAT_EQ(Run(losses::MeanSquaredError(ZerosLike(any), any,
                                               {.weights = Const(Tensor::Of<int32_t>({1, 2}))}))
                      .scalar<float>(),
                  4);
}

}  // namespace
}  // namespace sextant

// Every layer, in the forms that its options choose between, with TensorFlow's values.
#include <functional>
#include <map>

#include "sextant/nn/golden_values.h"
#include "sextant/nn/layers.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/activation.h"
#include "sextant/ops/math/trig.h"
#include "sextant/runtime/session.h"

namespace sextant::layers {
namespace {

using Build = std::function<Output(Output)>;

const std::map<std::string, Build>& Builders() {
  static const std::map<std::string, Build> builders = {
      {"dense", [](Output x) { return Dense(x, {.units = 5}); }},
      {"dense_relu", [](Output x) { return Dense(x, {.units = 5, .activation = Relu}); }},
      {"dense_no_bias", [](Output x) { return Dense(x, {.units = 2, .use_bias = false}); }},
      {"conv1d", [](Output x) { return Conv1D(x, {.filters = 4}); }},
      {"conv1d_same_strides",
       [](Output x) {
         return Conv1D(x, {.filters = 2, .strides = 2, .padding = "SAME", .activation = Tanh});
       }},
      {"conv1d_dilated",
       [](Output x) {
         return Conv1D(x, {.filters = 2, .kernel = 2, .dilation = 2, .use_bias = false});
       }},
      {"conv2d", [](Output x) { return Conv2D(x, {.filters = 4}); }},
      {"conv2d_same_strides",
       [](Output x) {
         return Conv2D(x, {.filters = 2,
                           .kernel = {3, 2},
                           .strides = {2, 1},
                           .padding = "SAME",
                           .activation = Relu});
       }},
      {"conv2d_dilated",
       [](Output x) {
         return Conv2D(x, {.filters = 2, .kernel = 2, .dilation = 2, .use_bias = false});
       }},
      {"conv2d_transpose",
       [](Output x) {
         return Conv2DTranspose(x, {.filters = 2, .strides = 2, .padding = "SAME"});
       }},
      {"conv2d_transpose_valid",
       [](Output x) {
         return Conv2DTranspose(x, {.filters = 2, .strides = 2, .activation = Relu});
       }},
      {"separable_conv2d",
       [](Output x) { return SeparableConv2D(x, {.filters = 4, .multiplier = 2}); }},
      {"separable_conv2d_same",
       [](Output x) {
         return SeparableConv2D(x, {.filters = 2,
                                    .strides = 2,
                                    .padding = "SAME",
                                    .activation = Relu,
                                    .use_bias = false});
       }},
      {"depthwise_conv2d",
       [](Output x) { return DepthwiseConv2D(x, {.multiplier = 2, .activation = Relu}); }},
      {"max_pool2d", [](Output x) { return MaxPool2D(x); }},
      {"max_pool2d_same",
       [](Output x) {
         return MaxPool2D(x, {.pool = {3, 2}, .strides = {1, 2}, .padding = "SAME"});
       }},
      {"average_pool2d", [](Output x) { return AveragePool2D(x); }},
      {"average_pool2d_same",
       [](Output x) { return AveragePool2D(x, {.pool = 3, .padding = "SAME"}); }},
      {"max_pool1d", [](Output x) { return MaxPool1D(x); }},
      {"average_pool1d_same",
       [](Output x) { return AveragePool1D(x, {.pool = 3, .padding = "SAME"}); }},
      {"batch_norm", [](Output x) { return BatchNorm(x); }},
      {"batch_norm_training",
       [](Output x) { return BatchNorm(x, {.training = true, .momentum = 0.8F}); }},
      {"batch_norm_rows",
       [](Output x) { return BatchNorm(x, {.training = true, .epsilon = 0.01F, .scale = false}); }},
      {"batch_norm_no_center", [](Output x) { return BatchNorm(x, {.center = false}); }},
      {"batch_norm_image_no_scale",
       [](Output x) { return BatchNorm(x, {.training = true, .center = false, .scale = false}); }},
      {"layer_norm", [](Output x) { return LayerNorm(x); }},
      {"layer_norm_plain",
       [](Output x) { return LayerNorm(x, {.epsilon = 0.1F, .center = false, .scale = false}); }},
      {"flatten", [](Output x) { return Flatten(x); }},
      {"local_response_norm",
       [](Output x) {
         return LocalResponseNorm(x, {.depth_radius = 1, .bias = 2, .alpha = 0.5F, .beta = 0.75F});
       }},
      {"dropout_inference", [](Output x) { return Dropout(x, {.rate = 0.5F}); }},
      {"embedding", [](Output x) { return Embedding(x, {.rows = 4, .columns = 3}); }},
  };
  return builders;
}

TEST(LayersGoldenTest, GiveAndUpdateWhatTensorFlowDoes) {
  ASSERT_EQ(GoldenValues("layers").size(), Builders().size());
  for (const auto& layer : GoldenValues("layers")) {
    const std::string name = layer.at("name");
    SCOPED_TRACE(name);
    Graph graph;
    const GraphScope scope(graph);
    const Output y = Builders().at(name)(Const(GoldenTensor(layer.at("input"))));
    const std::vector<Variable> variables = CollectedVariables();
    ASSERT_EQ(variables.size(), layer.at("variables").size());
    Session session(graph);
    for (size_t i = 0; i < variables.size(); ++i) {
      session.Run(variables[i].Assign(Const(GoldenTensor(layer.at("variables")[i]))));
    }
    ExpectGolden(session.Run(y), layer.at("output"), name);
    for (const Output& update : graph.Collection(kUpdateOps)) {
      session.Run(Operation(update.node()));
    }
    for (size_t i = 0; i < variables.size(); ++i) {
      ExpectGolden(session.Run(variables[i].value()), layer.at("after")[i], variables[i].name());
    }
  }
}

// The same numbers with the channels first.
TEST(LayersGoldenTest, ChannelsFirstAreTheTransposedImages) {
  const auto& cases = GoldenValues("layers");
  const auto image = GoldenTensor(cases[6].at("input"));
  for (const char* op : {"conv", "max", "average", "norm"}) {
    Graph graph;
    const GraphScope scope(graph);
    const auto build = [&](Output x, const std::string& format) {
      const VariableScope layer("same", Reuse::kAuto);
      if (op == std::string("conv")) {
        return Conv2D(x, {.filters = 2,
                          .data_format = format,
                          .kernel_initializer = initializers::Constant(0.25),
                          .name = "c"});
      }
      if (op == std::string("norm")) return BatchNorm(x, {.data_format = format, .name = "n"});
      const Pool2DOptions options = {.data_format = format};
      return op == std::string("max") ? MaxPool2D(x, options) : AveragePool2D(x, options);
    };
    const Output last = build(Const(image), "NHWC");
    const Output first = OpBuilder("Transpose")
                             .Input(build(OpBuilder("Transpose")
                                              .Input(Const(image))
                                              .Input(ConstInts({0, 3, 1, 2}, DType::kInt32))
                                              .Build(),
                                          "NCHW"))
                             .Input(ConstInts({0, 2, 3, 1}, DType::kInt32))
                             .Build();
    Session session(graph);
    session.Run(GlobalVariablesInitializer());
    const Tensor a = session.Run(last), b = session.Run(first);
    ASSERT_EQ(a.shape().ToString(), b.shape().ToString()) << op;
    for (int64_t i = 0; i < a.num_elements(); ++i) {
      ASSERT_NEAR(a.data<float>()[i], b.data<float>()[i], 1e-5F) << op << " " << i;
    }
  }
}

// Of many elements the share of zeros is the rate, and what stays grows by 1 / (1 - rate).
TEST(LayersGoldenTest, DropoutWhileTraining) {
  Graph graph;
  const GraphScope scope(graph);
  const Output y = Dropout(Ones({100, 100}), {.rate = 0.25F, .training = true, .seed = 3});
  const Tensor value = Session(graph).Run(y);
  int64_t zeros = 0;
  for (const float x : value.flat<float>()) {
    if (x == 0) {
      ++zeros;
    } else {
      ASSERT_FLOAT_EQ(x, 1 / 0.75F);
    }
  }
  EXPECT_NEAR(static_cast<double>(zeros), 2500, 5 * std::sqrt(10000 * 0.25 * 0.75));
}

TEST(LayersGoldenTest, BadOptionsAreNamed) {
  Graph graph;
  const GraphScope scope(graph);
  const Output row = Ones({2, 3}), image = Ones({1, 4, 4, 1});
  EXPECT_THROW(Dense(row, {}), Error);
  EXPECT_THROW(Conv2D(image, {}), Error);
  EXPECT_THROW(Conv2D(row, {.filters = 1}), Error);
  EXPECT_THROW(Conv2D(image, {.filters = 1, .padding = "HALF"}), Error);
  EXPECT_THROW(Embedding(row, {.rows = 2, .columns = 2}), Error);
  EXPECT_THROW(Dropout(row, {.rate = 1.5F, .training = true}), Error);
}

}  // namespace
}  // namespace sextant::layers

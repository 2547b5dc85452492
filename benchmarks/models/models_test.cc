// The recurrent and the MNIST model against TensorFlow 2.15: losses of the first steps and norms of
// gradients, from the same initial values and data (those of numpy.random.RandomState), made by its
// version of the models in benchmarks/peers.
#include <gtest/gtest.h>

#include <cmath>

#include "benchmarks/models/gru_seq2seq.h"
#include "benchmarks/models/mnist_convnet.h"
#include "sextant/sextant.h"
#include "sextant/testing/numpy_values.h"

namespace sextant::bench {
namespace {

struct Expected {
  std::vector<double> gradient_norms;  // of the first variables
  std::vector<double> losses;          // before each step
};

constexpr double kTolerance = 1e-4;  // relative

void Check(Output loss, Operation train, const FeedMap& feeds, const Expected& expected) {
  const std::vector<Variable> variables = CollectedVariables(kTrainableVariables);
  std::vector<Output> handles, gradients;
  for (size_t i = 0; i < expected.gradient_norms.size(); ++i) {
    handles.push_back(variables[i].handle());
  }
  for (const Gradient& gradient : Gradients(loss, handles)) gradients.push_back(gradient.dense());
  const Operation initialize = GlobalVariablesInitializer();
  const Operation assign = AssignInitialValues(variables);
  Session session(loss.graph());
  session.Run(initialize);
  session.Run(assign);
  const std::vector<Tensor> values = session.Run(feeds, gradients);
  for (size_t i = 0; i < values.size(); ++i) {
    double sum = 0;
    for (const float x : values[i].flat<float>()) sum += static_cast<double>(x) * x;
    const double norm = expected.gradient_norms[i];
    EXPECT_NEAR(std::sqrt(sum), norm, kTolerance * norm) << variables[i].name();
  }
  for (const double value : expected.losses) {
    const Tensor got = session.Run(feeds, std::vector<Output>{loss}, {train})[0];
    EXPECT_NEAR(got.scalar<float>(), value, kTolerance * value);
  }
}

TEST(ModelsTest, GruTrainsAsInTensorFlow) {
  Graph graph;
  const GraphScope use(graph);
  const GruSeq2Seq model = BuildGruSeq2Seq(8);
  FeedMap feeds;
  for (int t = 0; t < kGruLength; ++t) {
    Tensor symbols(DType::kInt32, Shape{8});
    for (int b = 0; b < 8; ++b) symbols.data<int32_t>()[b] = (3 * b + 2 * t + b / 4) % 7;
    feeds.emplace_back(model.inputs[t], symbols);
  }
  Check(model.loss, model.train, feeds,
        {.gradient_norms = {0.0153953, 0.00335676, 0.10215, 0.0221307, 0.0817834, 0.0206738,
                            0.543431, 0.0392319, 0.0164174, 0.100422, 0.37345, 0.0488559},
         .losses = {1.948073, 1.924815, 1.881428, 1.821323}});
}

TEST(ModelsTest, MnistConvnetTrainsAsInTensorFlow) {
  Graph graph;
  const GraphScope use(graph);
  const MnistConvnet model = BuildMnistConvnet();
  Tensor labels(DType::kFloat, Shape{4, 10});
  for (float& x : labels.flat<float>()) x = 0;
  for (int i = 0; i < 4; ++i) labels.data<float>()[10 * i + 3 * i % 10] = 1;
  const FeedMap feeds = {{model.images, UniformTensor({4, 784}, 1)},
                         {model.labels, labels},
                         {model.keep, Tensor(1.0f)}};
  Check(
      model.loss, model.train, feeds,
      {.gradient_norms = {2.42505, 0.859075, 14.4953, 0.978338, 28.2197, 1.19381, 16.0156, 1.5899},
       .losses = {9.475874, 7.526147, 6.189301, 5.290937}});
}

}  // namespace
}  // namespace sextant::bench

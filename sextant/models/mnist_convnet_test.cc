// The net against TensorFlow 2.15: losses of the first steps and norms of gradients, from the same
// initial values and data (those of numpy.random.RandomState), made by
// benchmarks/peers/mnist_tf1.py.
#include "sextant/models/mnist_convnet.h"

#include <gtest/gtest.h>

#include "sextant/models/trajectory_test.h"
#include "sextant/sextant.h"
#include "sextant/testing/numpy_values.h"

namespace sextant::models {
namespace {

struct FedConvnet {
  Output images = Placeholder(DType::kFloat, PartialShape{-1, 784});
  Output labels = Placeholder(DType::kFloat, PartialShape{-1, 10});
  Output keep = Placeholder(DType::kFloat, PartialShape{});
  Output logits = MnistConvnetLogits(images, {.dropout_rate = 1.0 - keep}, true);
  Output loss = -Sum(labels * Log(Softmax(logits)), {0, 1});
};

TEST(MnistConvnetTest, TrainsAsInTensorFlow) {
  Graph graph;
  const GraphScope use(graph);
  const FedConvnet model;
  Tensor labels = Tensor::Zeros(DType::kFloat, Shape{4, 10});
  for (int i = 0; i < 4; ++i) labels.data<float>()[10 * i + 3 * i % 10] = 1;
  CheckTrajectory(
      model.loss, train::Adam({.learning_rate = 1e-4}).Minimize(model.loss),
      {{model.images, UniformTensor({4, 784}, 1)},
       {model.labels, labels},
       {model.keep, Tensor(1.0f)}},
      CollectedVariables(kTrainableVariables),
      {.gradient_norms = {2.42505, 0.859075, 14.4953, 0.978338, 28.2197, 1.19381, 16.0156, 1.5899},
       .losses = {9.475874, 7.526147, 6.189301, 5.290937}});
}

TEST(MnistConvnetTest, StartsAsTheTutorial) {
  Graph graph;
  graph.set_seed(1);
  const GraphScope use(graph);
  const FedConvnet model;
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  int64_t count = 0;
  for (const Variable& variable : CollectedVariables(kTrainableVariables)) {
    const Tensor value = session.Run(variable.value());
    count += value.num_elements();
    double squares = 0;
    for (const float x : value.flat<float>()) {
      squares += static_cast<double>(x) * x;
      if (value.rank() == 1) {
        EXPECT_EQ(x, 0.1f);
      }
      EXPECT_LE(std::abs(x), 0.2f);
    }
    // The variance of a normal number cut at two deviations is 0.7737 of the normal's.
    if (value.rank() > 1) {
      EXPECT_NEAR(squares / static_cast<double>(value.num_elements()), 0.0077, 8e-4);
    }
  }
  EXPECT_EQ(count, 3274634);
}

}  // namespace
}  // namespace sextant::models

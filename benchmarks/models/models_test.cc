// The models against TensorFlow 2.15: losses of the first steps and norms of gradients, from the
// same initial values and data (those of numpy.random.RandomState), made by its version of the
// models in benchmarks/peers.
#include <gtest/gtest.h>

#include <cmath>

#include "benchmarks/models/gru_seq2seq.h"
#include "benchmarks/models/mnist_convnet.h"
#include "benchmarks/models/resnet44.h"
#include "benchmarks/numpy_random.h"
#include "sextant/sextant.h"

namespace sextant::bench {
namespace {

// The k-th variable is uniform in +-sqrt(3 / inputs per unit), from the seed 100 + k.
Tensor InitialValue(const Variable& variable, uint32_t k) {
  Tensor value(DType::kFloat, variable.shape().AsShape());
  const int rank = value.rank();
  const double inputs = rank > 1 ? static_cast<double>(value.num_elements()) /
                                       static_cast<double>(value.dim(rank - 1))
                                 : 300;
  const double limit = std::sqrt(3 / inputs);
  NumpyRandom random(100 + k);
  const bool is_gamma = variable.name().ends_with("gamma");
  const bool is_variance = variable.name().ends_with("variance");
  for (float& x : value.flat<float>()) {
    x = static_cast<float>(random.Uniform(-limit, limit));
    if (is_gamma) x = 1 + x;
    if (is_variance) x = 1 + x * x;
  }
  return value;
}

void Assign(Session& session, const std::vector<Variable>& variables) {
  const Output value = Placeholder(DType::kFloat);
  for (uint32_t k = 0; k < variables.size(); ++k) {
    session.Run({{value, InitialValue(variables[k], k)}},
                AssignVariable(variables[k].handle(), value));
  }
}

Tensor Uniform(const Shape& shape, double limit) {
  NumpyRandom random(1);
  Tensor value(DType::kFloat, shape);
  for (float& x : value.flat<float>()) x = static_cast<float>(random.Uniform(0, limit));
  return value;
}

struct Expected {
  std::vector<double> gradient_norms;  // of the first variables
  std::vector<double> losses;          // before each step
  double tolerance = 1e-4;             // relative
};

void Check(Output loss, Operation train, const FeedMap& feeds, const Expected& expected) {
  const std::vector<Variable> variables = CollectedVariables(kTrainableVariables);
  std::vector<Output> handles, gradients;
  for (size_t i = 0; i < expected.gradient_norms.size(); ++i) {
    handles.push_back(variables[i].handle());
  }
  for (const Gradient& gradient : Gradients(loss, handles)) gradients.push_back(gradient.dense());
  const Operation initialize = GlobalVariablesInitializer();
  Session session(loss.graph());
  session.Run(initialize);
  Assign(session, variables);
  const std::vector<Tensor> values = session.Run(feeds, gradients);
  for (size_t i = 0; i < values.size(); ++i) {
    double sum = 0;
    for (const float x : values[i].flat<float>()) sum += static_cast<double>(x) * x;
    const double norm = expected.gradient_norms[i];
    EXPECT_NEAR(std::sqrt(sum), norm, expected.tolerance * norm) << variables[i].name();
  }
  for (const double value : expected.losses) {
    const Tensor got = session.Run(feeds, std::vector<Output>{loss}, {train})[0];
    EXPECT_NEAR(got.scalar<float>(), value, expected.tolerance * value);
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
  const FeedMap feeds = {
      {model.images, Uniform({4, 784}, 1)}, {model.labels, labels}, {model.keep, Tensor(1.0f)}};
  Check(
      model.loss, model.train, feeds,
      {.gradient_norms = {2.42505, 0.859075, 14.4953, 0.978338, 28.2197, 1.19381, 16.0156, 1.5899},
       .losses = {9.475874, 7.526147, 6.189301, 5.290937}});
}

TEST(ModelsTest, Resnet44TrainsAsInTensorFlow) {
  Graph graph;
  const GraphScope use(graph);
  const Output images = Placeholder(DType::kFloat, PartialShape{4, 32, 32, 3});
  const Output labels = Placeholder(DType::kInt32, PartialShape{4});
  const Resnet44Training model = BuildResnet44Training(images, labels);
  Tensor classes(DType::kInt32, Shape{4});
  for (int i = 0; i < 4; ++i) classes.data<int32_t>()[i] = 3 * i % 10;
  const FeedMap feeds = {{images, Uniform({4, 32, 32, 3}, 255)}, {labels, classes}};
  // The norms of 43 layers let differences in the last place grow.
  Check(model.loss, model.train, feeds,
        {.gradient_norms = {8.75974, 1.07783, 1.11943, 14.2138, 1.10513, 0.852774, 12.2632,
                            0.602576, 0.595242, 10.7784, 0.44691, 0.455464},
         .losses = {5.874245, 3.186886},
         .tolerance = 3e-3});
}

TEST(ModelsTest, Resnet44PredictsAsInTensorFlow) {
  Graph graph;
  const GraphScope use(graph);
  const Output images = Placeholder(DType::kFloat, PartialShape{-1, 32, 32, 3});
  const Output probabilities = BuildResnet44Inference(images);
  Session session(graph);
  Assign(session, CollectedVariables());
  const Tensor got = session.Run({{images, Uniform({4, 32, 32, 3}, 255)}}, probabilities);
  const float expected[] = {0.000870377f, 0.00886767f, 0.000834569f, 0.0257236f,
                            0.888491f,    5.73999e-5f, 0.0141122f,   0.000222802f,
                            0.0354848f,   0.0253231f,  1.27453e-5f};
  for (int i = 0; i < 11; ++i) EXPECT_NEAR(got.data<float>()[i], expected[i], 2e-4 * expected[i]);
}

}  // namespace
}  // namespace sextant::bench

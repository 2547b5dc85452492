// ResNet-44 against float64, recorded for 20 batches by tools/golden/resnet44.py.
//
// Losses and logits are continuous functions of all values before them, so rounding moves them by
// little. Gradients are not: where rounding changes the sign of one input of a Relu, the gradients
// of the layers before it move by up to some percent, in every float32 implementation and in each
// at other batches. So gradients are held tightly in the smooth variant of the network, which has
// Softplus for Relu, and the network itself as a statistic over the batches.
//
// Beside each bound: the largest error of the 20 batches here (AVX-512), and that of TensorFlow
// 2.15 in float32 (resnet44.py --spread). Winograd's algorithm rounds about three times as coarsely
// as TensorFlow's direct way.
#include "sextant/models/resnet_cifar.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "sextant/formats/npy.h"
#include "sextant/sextant.h"
#include "sextant/testing/numpy_values.h"

namespace sextant::models {
namespace {

constexpr int kSeeds = 20, kBatch = 4, kSteps = 3, kProjections = 4;

double Largest(const std::vector<double>& values) { return std::ranges::max(values); }
double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

struct TrainedNetwork {
  Output logits, loss;
  Operation train;  // one step of momentum, the running statistics included
};

TrainedNetwork Build(Output images, Output labels, Output (*activation)(Output)) {
  TrainedNetwork network;
  network.logits = ResnetCifarLogits(images, {.activation = activation}, true);
  network.loss =
      ResnetCifarLoss(network.logits, labels, CollectedVariables(kTrainableVariables), 2e-4f);
  std::vector<Operation> steps = {
      train::Momentum({.learning_rate = 0.01, .momentum = 0.9}).Minimize(network.loss)};
  for (const Output& update : CurrentGraph().Collection(kUpdateOps)) {
    steps.emplace_back(update.node());
  }
  network.train = Group(steps);
  return network;
}

// Relative errors of one batch.
struct Errors {
  std::vector<double> losses;     // before each step
  double logits = 0;              // of the largest magnitude
  std::vector<double> gradients;  // of each variable, as Euclidean norms
};

// A network with what was recorded of it in float64.
class RecordedNetwork {
 public:
  RecordedNetwork(const std::string& name, Output (*activation)(Output))
      : use_(graph_),
        images_(Placeholder(DType::kFloat, PartialShape{kBatch, 32, 32, 3})),
        labels_(Placeholder(DType::kInt32, PartialShape{kBatch})),
        model_(Build(images_, labels_, activation)),
        losses_(Read(name + "_loss")),
        logits_(Read(name + "_logits")),
        sketches_(Read(name + "_sketch")) {
    const std::vector<Variable> variables = CollectedVariables(kTrainableVariables);
    std::vector<Output> handles;
    for (const Variable& variable : variables) handles.push_back(variable.handle());
    fetches_ = {model_.loss, model_.logits};
    for (const Gradient& gradient : Gradients(model_.loss, handles)) {
      fetches_.push_back(gradient.dense());
    }
    initialize_ = GlobalVariablesInitializer();
    assign_ = AssignInitialValues(variables);
    for (uint32_t k = 0; k < variables.size(); ++k) {
      NumpyRandom random(1000 + k);
      std::vector<double>& signs = signs_.emplace_back();
      const int64_t elements = variables[k].shape().AsShape().num_elements();
      for (int64_t i = 0; i < kProjections * elements; ++i) {
        signs.push_back(random.Uniform(-1, 1) < 0 ? -1 : 1);
      }
    }
    session_ = std::make_unique<Session>(graph_);
  }

  // "index" counts the batches from 0.
  Errors Run(int index) {
    Tensor classes(DType::kInt32, Shape{kBatch});
    for (int i = 0; i < kBatch; ++i) classes.data<int32_t>()[i] = 3 * i % 10;
    const FeedMap feeds = {{images_, UniformTensor({kBatch, 32, 32, 3}, 255, 1 + index)},
                           {labels_, classes}};
    session_->Run(initialize_);
    session_->Run(assign_);
    const std::vector<Tensor> values = session_->Run(feeds, fetches_);
    Errors errors;
    const auto add_loss = [&](const Tensor& loss) {
      const double expected =
          losses_.data<double>()[index * kSteps + static_cast<int>(errors.losses.size())];
      errors.losses.push_back(std::abs(loss.scalar<float>() - expected) / expected);
    };
    add_loss(values[0]);
    errors.logits = LogitsError(values[1], index);
    for (size_t k = 0; k < signs_.size(); ++k) {
      errors.gradients.push_back(GradientError(values[2 + k], index, k));
    }
    session_->Run(feeds, {}, {model_.train});
    while (errors.losses.size() < kSteps) {
      add_loss(session_->Run(feeds, std::vector<Output>{model_.loss}, {model_.train})[0]);
    }
    return errors;
  }

 private:
  static Tensor Read(const std::string& name) {
    return ReadNpy(SEXTANT_SOURCE_DIR "/testdata/resnet44/" + name + ".npy");
  }

  double LogitsError(const Tensor& logits, int index) const {
    const double* expected = logits_.data<double>() + index * logits.num_elements();
    double error = 0, largest = 0;
    for (int64_t i = 0; i < logits.num_elements(); ++i) {
      error = std::max(error, std::abs(logits.data<float>()[i] - expected[i]));
      largest = std::max(largest, std::abs(expected[i]));
    }
    return error / largest;
  }

  // Estimated from the recorded norm and projections.
  double GradientError(const Tensor& gradient, int index, size_t variable) const {
    const float* recorded =
        sketches_.data<float>() + (index * signs_.size() + variable) * (1 + kProjections);
    const double* sign = signs_[variable].data();
    double squares = 0;
    for (int p = 0; p < kProjections; ++p) {
      double product = 0;
      for (const float x : gradient.flat<float>()) product += *sign++ * x;
      squares += (product - recorded[1 + p]) * (product - recorded[1 + p]);
    }
    return std::sqrt(squares / kProjections) / recorded[0];
  }

  Graph graph_;
  const GraphScope use_;
  const Output images_, labels_;
  const TrainedNetwork model_;
  const Tensor losses_, logits_, sketches_;
  std::vector<Output> fetches_;
  Operation initialize_, assign_;
  std::vector<std::vector<double>> signs_;  // [variable][projection][element]
  std::unique_ptr<Session> session_;
};

int64_t Numbers(const char* collection) {
  int64_t count = 0;
  for (const Variable& variable : CollectedVariables(collection)) {
    count += variable.shape().AsShape().num_elements();
  }
  return count;
}

// Counted by hand from the layers' shapes; 11 classes.
TEST(ResnetCifarTest, HasAsManyNumbersAsThePublishedNetworks) {
  const std::pair<int64_t, int64_t> depths[] = {
      {20, 269787}, {32, 464219}, {44, 658651}, {56, 853083}, {110, 1728027}};
  for (const auto& [layers, numbers] : depths) {
    Graph graph;
    const GraphScope use(graph);
    const Output images = Placeholder(DType::kFloat, PartialShape{-1, 32, 32, 3});
    ResnetCifarLogits(images, {.units_per_stage = UnitsPerStage(layers)}, true);
    EXPECT_EQ(Numbers(kTrainableVariables), numbers) << layers;
    if (layers == 44) {
      EXPECT_EQ(Numbers(kGlobalVariables) - numbers, 3168);
    }
  }
}

TEST(ResnetCifarTest, HasTheVariablesAndScopesOfTheTutorial) {
  Graph graph;
  const GraphScope use(graph);
  const VariableScope scope("resnet");
  const NameScope tower("tower_0");
  const Output images = Placeholder(DType::kFloat, PartialShape{-1, 32, 32, 3});
  const Output logits = ResnetCifarLogits(images, {.data_format = "NCHW"}, true);
  EXPECT_EQ(logits.shape(), (PartialShape{-1, 11}));
  EXPECT_EQ(logits.node()->name(), "resnet/tower_0/fully_connected/dense/BiasAdd");
  std::set<std::string> names;
  for (const Variable& variable : CollectedVariables()) names.insert(variable.name());
  EXPECT_EQ(names.size(), 43u * 5 + 2);
  for (const char* name :
       {"resnet/conv2d/kernel", "resnet/conv2d_42/kernel", "resnet/BatchNorm/beta",
        "resnet/BatchNorm_42/moving_variance", "resnet/dense/bias"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  const Node* last = graph.FindNode("resnet/tower_0/stage_2/residual_v1_6/Relu_1");
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(last->output_shape(0), (PartialShape{-1, 64, 8, 8}));
  const Node* pooled =
      graph.FindNode("resnet/tower_0/stage_1/residual_v1/avg_pool/average_pooling2d/AvgPool");
  ASSERT_NE(pooled, nullptr);
  EXPECT_EQ(pooled->output_shape(0), (PartialShape{-1, 16, 16, 16}));
}

TEST(ResnetCifarTest, RateFallsAtThePublishedSteps) {
  Graph graph;
  const GraphScope use(graph);
  const Output step = Placeholder(DType::kInt64, PartialShape(Shape()));
  const Output one = ResnetCifarSchedule(0.1f, 128, 1).Build(step);
  const Output two = ResnetCifarSchedule(0.1f, 128, 2).Build(step);
  Session session(graph);
  const auto rate = [&](Output schedule, int64_t at) {
    return session.Run({{step, Tensor(at)}}, schedule).scalar<float>();
  };
  const float rates[] = {0.1f, 0.01f, 0.001f, 0.0002f};
  const int64_t boundaries[] = {28782, 43173, 105300}, halves[] = {14350, 21525, 52500};
  for (int i = 0; i < 3; ++i) {  // a stage lasts while step <= boundary
    EXPECT_FLOAT_EQ(rate(one, boundaries[i]), rates[i]);
    EXPECT_FLOAT_EQ(rate(one, boundaries[i] + 1), rates[i + 1]);
    EXPECT_FLOAT_EQ(rate(two, halves[i]), rates[i]);
    EXPECT_FLOAT_EQ(rate(two, halves[i] + 1), rates[i + 1]);
  }
  EXPECT_THROW(ResnetCifarSchedule(0.1f, 50000, 1), Error);
  EXPECT_THROW(ResnetCifarSchedule(0.1f, 8, 0), Error);
  // 2^61 + 1 workers of 8 images each: the product is 8 in 64 bits.
  EXPECT_THROW(ResnetCifarSchedule(0.1f, 8, (int64_t{1} << 61) + 1), Error);
  EXPECT_THROW(UnitsPerStage(45), Error);
  EXPECT_EQ(UnitsPerStage(1202), 200);
  EXPECT_THROW(UnitsPerStage(2000000), Error);
}

// Σ ½w² of Glorot kernels and gammas of 1 is about 1572.
TEST(ResnetCifarTest, DecayTermAtTheStart) {
  Graph graph;
  graph.set_seed(1);
  const GraphScope use(graph);
  const Output images = Placeholder(DType::kFloat, PartialShape{-1, 32, 32, 3});
  const Output labels = Placeholder(DType::kInt32, PartialShape{-1});
  const Output logits = ResnetCifarLogits(images, {}, false);
  const std::vector<Variable> variables = CollectedVariables(kTrainableVariables);
  const Output with = ResnetCifarLoss(logits, labels, variables, 2e-4f);
  const Output without = ResnetCifarLoss(logits, labels, variables, 0);
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  const auto losses = session.Run(
      {{images, UniformTensor({4, 32, 32, 3}, 255)}, {labels, Tensor::Of<int32_t>({0, 1, 2, 3})}},
      std::vector<Output>{with, without});
  EXPECT_NEAR(losses[0].scalar<float>() - losses[1].scalar<float>(), 0.314, 0.002);
}

TEST(ResnetCifarTest, SmoothVariantHasTheGradientsOfFloat64) {
  RecordedNetwork network("softplus", Softplus);
  for (int i = 0; i < kSeeds; ++i) {
    SCOPED_TRACE(fmt::format("seed {}", 1 + i));
    const Errors errors = network.Run(i);
    EXPECT_LT(Largest(errors.losses), 1e-6);      // 2.3e-7, 3.4e-7
    EXPECT_LT(errors.logits, 1.5e-6);             // 3.4e-7, 4.2e-7
    EXPECT_LT(Largest(errors.gradients), 6e-5);   // 1.8e-5, 1.1e-5
    EXPECT_LT(Median(errors.gradients), 1.2e-5);  // 3.7e-6, 2.4e-6
  }
}

TEST(ResnetCifarTest, IsThatOfFloat64UpToSignsThatRoundingChanges) {
  RecordedNetwork network("relu", Relu);
  std::vector<double> second, third, gradients;
  for (int i = 0; i < kSeeds; ++i) {
    SCOPED_TRACE(fmt::format("seed {}", 1 + i));
    const Errors errors = network.Run(i);
    EXPECT_LT(errors.losses[0], 3e-6);           // 7.0e-7, 3.4e-7
    EXPECT_LT(errors.logits, 1.5e-5);            // 4.2e-6, 8.9e-7
    EXPECT_LT(Largest(errors.gradients), 0.15);  // 0.033, 0.042
    second.push_back(errors.losses[1]);
    third.push_back(errors.losses[2]);
    gradients.push_back(Median(errors.gradients));
  }
  EXPECT_LT(Median(gradients), 2e-2);            // 5.9e-3, 5.2e-6
  EXPECT_LT(std::ranges::min(gradients), 1e-4);  // where no sign changes: 1.3e-5, 4.6e-6
  EXPECT_LT(Median(second), 1e-3);               // 1.5e-4, 7.8e-6
  EXPECT_LT(Median(third), 3e-2);                // 6.7e-3, 8.8e-4
}

TEST(ResnetCifarTest, PredictsAsInTensorFlow) {
  Graph graph;
  const GraphScope use(graph);
  const Output images = Placeholder(DType::kFloat, PartialShape{-1, 32, 32, 3});
  const Output probabilities = Softmax(ResnetCifarLogits(images, {}, false));
  const Operation assign = AssignInitialValues(CollectedVariables());
  Session session(graph);
  session.Run(assign);
  const Tensor got = session.Run({{images, UniformTensor({4, 32, 32, 3}, 255)}}, probabilities);
  const float expected[] = {0.000870377f, 0.00886767f, 0.000834569f, 0.0257236f,
                            0.888491f,    5.73999e-5f, 0.0141122f,   0.000222802f,
                            0.0354848f,   0.0253231f,  1.27453e-5f};
  for (int i = 0; i < 11; ++i) EXPECT_NEAR(got.data<float>()[i], expected[i], 2e-4 * expected[i]);
}

}  // namespace
}  // namespace sextant::models

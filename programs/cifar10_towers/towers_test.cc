#include "cifar10_towers/towers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "cifar10_towers/cifar10.h"
#include "cifar10_towers/double_network.h"
#include "cifar10_towers/training_loop.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/testing/pseudo_random.h"

namespace sx = sextant;

namespace cifar10 {
namespace {

sx::Tensor Labels(int64_t count, uint32_t seed) {
  sx::Tensor labels(sx::DType::kInt32, sx::Shape{count});
  const sx::Tensor random = sx::PseudoRandom({count}, seed, 0, 10);
  for (int64_t i = 0; i < count; ++i) {
    labels.data<int32_t>()[i] = static_cast<int32_t>(random.data<float>()[i]);
  }
  return labels;
}

// Towers whose batches are fed.
class FedTowers {
 public:
  FedTowers(int64_t towers, int64_t batch) : use_(graph_), batch_(batch) {
    graph_.set_seed(3);
    towers_ = BuildTowers({.num_towers = towers, .device = "cpu", .batch_size = batch}, [&] {
      inputs_.push_back({sx::Placeholder(sx::DType::kFloat, sx::PartialShape{batch, 24, 24, 3}),
                         sx::Placeholder(sx::DType::kInt32, sx::PartialShape{batch})});
      return inputs_.back();
    });
    const sx::Operation init = sx::GlobalVariablesInitializer();
    session_ = std::make_unique<sx::Session>(
        graph_, sx::SessionOptions{.host_devices = static_cast<int>(towers)});
    session_->Run(init);
  }

  // One step with the rows of all towers, one tower's after the other's; the last tower's loss.
  float Step(const sx::Tensor& images, const sx::Tensor& labels) {
    sx::FeedMap feeds;
    const int64_t width = 24 * 24 * 3;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      sx::Tensor own(sx::DType::kFloat, sx::Shape{batch_, 24, 24, 3});
      sx::Tensor classes(sx::DType::kInt32, sx::Shape{batch_});
      const auto first = static_cast<int64_t>(i) * batch_;
      std::copy_n(images.data<float>() + first * width, batch_ * width, own.data<float>());
      std::copy_n(labels.data<int32_t>() + first, batch_, classes.data<int32_t>());
      feeds.emplace_back(inputs_[i].images, own);
      feeds.emplace_back(inputs_[i].labels, classes);
    }
    return session_->Run(feeds, std::vector<sx::Output>{towers_.loss}, {towers_.train})[0]
        .scalar<float>();
  }

  std::map<std::string, sx::Tensor> Variables() {
    std::map<std::string, sx::Tensor> values;
    for (const sx::Variable& variable : sx::CollectedVariables()) {
      values[variable.name()] = session_->Run(variable.value());
    }
    return values;
  }

 private:
  sx::Graph graph_;
  const sx::GraphScope use_;
  const int64_t batch_;
  std::vector<Batch> inputs_;
  Towers towers_;
  std::unique_ptr<sx::Session> session_;
};

TEST(Cifar10TowersTest, HasTheNumbersAndTheFirstLossOfTheTutorial) {
  FedTowers towers(1, 16);
  int64_t numbers = 0;
  for (const sx::Variable& variable : sx::CollectedVariables(sx::kTrainableVariables)) {
    numbers += variable.shape().AsShape().num_elements();
    EXPECT_EQ(variable.handle().node()->device(), "/device:CPU:0");
  }
  EXPECT_EQ(numbers, 1068298);
  // ln 10 of the cross entropy, and 0.004 * ½‖W‖² of the two locally connected layers.
  const float loss = towers.Step(sx::PseudoRandom({16, 24, 24, 3}, 1), Labels(16, 2));
  EXPECT_NEAR(loss, 4.676, 0.01);
}

TEST(Cifar10TowersTest, VariablesHaveTheTutorialsNames) {
  FedTowers towers(1, 2);
  std::set<std::string> expected = {"global_step"};
  for (const char* layer : {"conv1", "conv2", "local3", "local4", "softmax_linear"}) {
    for (const char* part : {"weights", "biases"}) {
      const std::string name = std::string(layer) + "/" + part;
      expected.insert(name);
      expected.insert(name + "/ExponentialMovingAverage");
    }
  }
  for (const char* loss :
       {"local3/weight_loss", "local4/weight_loss", "cross_entropy", "total_loss_1"}) {
    expected.insert(std::string("tower_0/") + loss + "/avg");
  }
  std::set<std::string> names;
  for (const auto& [name, value] : towers.Variables()) names.insert(name);
  EXPECT_EQ(names, expected);
}

// Variables before and after 20 steps with the batches of one seed.
struct Trained {
  std::map<std::string, sx::Tensor> start, end;
};

template <typename Network>
std::map<std::string, sx::Tensor> After20Steps(Network& network, int64_t batch, uint32_t seed) {
  for (uint32_t step = 0; step < 20; ++step) {
    const uint32_t own = 1000 * seed + step;
    network.Step(sx::PseudoRandom({batch, 24, 24, 3}, own), Labels(batch, own + 100));
  }
  return network.Variables();
}

Trained TrainTowers(int64_t towers, int64_t batch, uint32_t seed) {
  FedTowers network(towers, batch / towers);
  std::map<std::string, sx::Tensor> start = network.Variables();
  return {.start = std::move(start), .end = After20Steps(network, batch, seed)};
}

// Of the differences between two tensors, float or double.
struct Distance {
  double largest = 0, norm = 0;
};

template <typename T, typename U>
Distance Between(const sx::Tensor& a, const sx::Tensor& b) {
  Distance distance;
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double d = std::abs(static_cast<double>(a.data<T>()[i]) - b.data<U>()[i]);
    distance.largest = std::max(distance.largest, d);
    distance.norm += d * d;
  }
  distance.norm = std::sqrt(distance.norm);
  return distance;
}

// No batch normalisation: the mean of the gradients of N batches is the gradient of all. In floats
// that holds as far as rounding lets it. The values that pool2 compares are 0.1 ± 4e-6 at the
// start, some hundred floats, so that rounding chooses among them, and with that where the gradient
// of conv1 and conv2 goes: their weights are up to 0.3 of their way (SSE2; 0.14 with AVX2 and
// AVX-512; 8 seeds each) from where they are in double. Two towers must be as near to one as both
// are to the truth; all other variables are within 2e-5 of their way of it.
TEST(Cifar10TowersTest, TowersEqualOneOfTheWholeBatch) {
  constexpr int64_t kBatch = 8;
  const std::set<std::string> before_pool2 = {"conv1/weights", "conv1/biases", "conv2/weights"};
  for (const uint32_t seed : {0, 1, 2}) {
    const Trained one = TrainTowers(1, kBatch, seed), two = TrainTowers(2, kBatch, seed);
    EXPECT_EQ(one.end.at("global_step").scalar<int64_t>(), 20);
    DoubleNetwork in_double(one.start, kBatch);
    const auto truth = After20Steps(in_double, kBatch, seed);
    for (const auto& [name, end] : one.end) {
      if (name == "global_step" || name.ends_with("/avg")) continue;
      SCOPED_TRACE(testing::Message() << name << ", seed " << seed);
      const Distance apart = Between<float, float>(two.end.at(name), end);
      EXPECT_LE(apart.largest, 1e-4);
      if (!truth.contains(name)) continue;  // an average of what is held below
      const double way = Between<float, double>(one.start.at(name), truth.at(name)).norm;
      const double rounding = Between<float, double>(end, truth.at(name)).norm;
      EXPECT_LE(rounding, (before_pool2.contains(name) ? 0.5 : 1e-3) * way);
      EXPECT_LE(apart.norm, 2 * rounding + 1e-4 * way);
    }
  }
}

TEST(Cifar10TowersTest, EndsWhenTheLossIsNotANumber) {
  sx::Graph graph;
  const sx::GraphScope use(graph);
  const sx::Variable w("w", sx::Tensor(std::nanf("")));
  const sx::TemporaryDirectory directory;
  const Training training{.loss = w, .train = sx::Group({}), .summaries = {}};
  try {
    RunTrainingLoop(training, {.train_dir = directory.path(), .max_steps = 3});
    FAIL() << "a loss that is not a number";
  } catch (const sx::Error& e) {
    EXPECT_EQ(e.message(), "Model diverged with loss = NaN");
  }
}

TEST(Cifar10TowersTest, AveragesGradients) {
  sx::Graph graph;
  const sx::GraphScope use(graph);
  const sx::Variable w("w", sx::Tensor::Of<float>({0, 0}));
  const auto gradient = [&](float a, float b) {
    return std::vector<sx::train::GradientAndVariable>{
        {sx::Const(sx::Tensor::Of<float>({a, b})), w}};
  };
  const auto mean = AverageGradients({gradient(1, 2), gradient(3, 6)});
  sx::Session session(graph);
  EXPECT_TRUE(session.Run(mean[0].gradient.dense()).Identical(sx::Tensor::Of<float>({2, 4})));
}

TEST(Cifar10TowersTest, StripsTheTowerFromTags) {
  EXPECT_EQ(WithoutTower("tower_12/conv1/conv1"), "/conv1/conv1");
  EXPECT_EQ(WithoutTower("cross_entropy"), "cross_entropy");
}

TEST(Cifar10TowersTest, RateFallsEvery350Epochs) {
  sx::Graph graph;
  const sx::GraphScope use(graph);
  const sx::Variable step("global_step", sx::Tensor(int64_t{136717}), {.trainable = false});
  const sx::Output rate = LearningRate(step, 128);
  sx::Session session(graph);
  session.Run(sx::GlobalVariablesInitializer());
  EXPECT_FLOAT_EQ(session.Run(rate).scalar<float>(), 0.1f);
  session.Run(step.AssignAdd(sx::Const(sx::Tensor(int64_t{1}))));
  EXPECT_FLOAT_EQ(session.Run(rate).scalar<float>(), 0.01f);
}

}  // namespace
}  // namespace cifar10

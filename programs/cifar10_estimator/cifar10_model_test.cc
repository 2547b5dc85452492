#include "cifar10_estimator/cifar10_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sextant/testing/pseudo_random.h"

namespace sx = sextant;

namespace cifar10 {
namespace {

constexpr int64_t kBatch = 8;

sx::HParams Params(int64_t towers) {
  return {{"num_layers", 8},
          {"num_towers", towers},
          {"tower_device", "cpu"},
          {"variable_strategy", "CPU"},
          {"data_format", "channels_last"},
          {"crop_24", false},
          {"train_batch_size", kBatch},
          {"learning_rate", 0.1},
          {"momentum", 0.9},
          {"weight_decay", 2e-4},
          {"batch_norm_decay", 0.9},
          {"batch_norm_epsilon", 1e-5},
          {"sync", false},
          {"num_workers", 1}};
}

// Rows first, first + stride, … of the batch.
sx::Tensor Rows(const sx::Tensor& batch, int64_t first, int64_t stride) {
  std::vector<int64_t> sizes;
  for (int i = 0; i < batch.rank(); ++i) sizes.push_back(batch.dim(i));
  const int64_t width = batch.num_elements() / sizes[0];
  sizes[0] = (sizes[0] - first + stride - 1) / stride;
  sx::Tensor rows(batch.dtype(), sx::Shape(sizes));
  const auto copy = [&]<typename T>(T) {
    for (int64_t i = 0; i < sizes[0]; ++i) {
      std::copy_n(batch.data<T>() + (first + i * stride) * width, width,
                  rows.data<T>() + i * width);
    }
  };
  batch.dtype() == sx::DType::kFloat ? copy(float{}) : copy(int32_t{});
  return rows;
}

// The model with one batch, from the same initial values whatever the number of towers.
class Model {
 public:
  Model(const sx::HParams& params, const sx::Tensor& images, const sx::Tensor& labels) {
    graph_.set_seed(7);
    const sx::GraphScope use(graph_);
    sx::train::GetOrCreateGlobalStep();
    sx::Features features, classes;
    features.Set("image", Fed(images));
    classes.Set("label", Fed(labels));
    spec_ = ResnetModelFn({features, classes, sx::Mode::kTrain, params, config_});
    const sx::Operation init = sx::GlobalVariablesInitializer();
    session_ = std::make_unique<sx::Session>(graph_, sx::SessionOptions{.host_devices = 2});
    session_->Run(init);
  }

  float Step() {
    return session_->Run(feeds_, std::vector<sx::Output>{spec_.loss}, {spec_.train_op})[0]
        .scalar<float>();
  }
  // By name. After one step the momentum's slot of a variable is its gradient.
  std::map<std::string, sx::Tensor> Variables() {
    const sx::GraphScope use(graph_);
    std::map<std::string, sx::Tensor> values;
    for (const sx::Variable& variable : sx::CollectedVariables()) {
      values[variable.name()] = session_->Run(variable.value());
    }
    return values;
  }
  const sx::Graph& graph() const { return graph_; }

 private:
  sx::Output Fed(const sx::Tensor& value) {
    std::vector<int64_t> sizes(value.rank());
    for (int i = 0; i < value.rank(); ++i) sizes[i] = i == 0 ? -1 : value.dim(i);
    feeds_.emplace_back(sx::Placeholder(value.dtype(), sx::PartialShape(sizes)), value);
    return feeds_.back().first;
  }

  sx::Graph graph_;
  sx::FeedMap feeds_;
  sx::RunConfig config_;
  sx::EstimatorSpec spec_;
  std::unique_ptr<sx::Session> session_;
};

double RelativeDifference(const sx::Tensor& got, const std::vector<double>& wanted) {
  double difference = 0, norm = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    difference += std::pow(got.data<float>()[i] - wanted[i], 2);
    norm += wanted[i] * wanted[i];
  }
  return std::sqrt(difference / std::max(norm, 1e-30));
}

class Cifar10ModelTest : public testing::Test {
 protected:
  const sx::Tensor images_ = sx::PseudoRandom({kBatch, 32, 32, 3}, 1, 0, 255);
  const sx::Tensor labels_ = sx::Tensor::Of<int32_t>({3, 1, 4, 1, 5, 9, 2, 6});
};

TEST_F(Cifar10ModelTest, TwoTowersTakeTheMeanOfTheGradientsOfTheirHalves) {
  Model both(Params(2), images_, labels_);
  Model even(Params(1), Rows(images_, 0, 2), Rows(labels_, 0, 2));
  Model odd(Params(1), Rows(images_, 1, 2), Rows(labels_, 1, 2));
  const auto start = both.Variables();
  for (const auto& [name, value] : even.Variables()) {
    ASSERT_TRUE(start.at(name).Identical(value)) << name << " begins with another value";
  }
  const float loss = both.Step();
  const float of_even = even.Step(), of_odd = odd.Step();
  EXPECT_NEAR(loss, (of_even + of_odd) / 2, 1e-5 * loss);
  const auto got = both.Variables(), first = even.Variables(), second = odd.Variables();
  EXPECT_EQ(got.size(), first.size());
  int gradients = 0, statistics = 0;
  for (const auto& [name, value] : got) {
    if (name.ends_with("/Momentum")) {
      std::vector<double> mean;
      for (int64_t i = 0; i < value.num_elements(); ++i) {
        mean.push_back((static_cast<double>(first.at(name).data<float>()[i]) +
                        second.at(name).data<float>()[i]) /
                       2);
      }
      EXPECT_LT(RelativeDifference(value, mean), 1e-5) << name;
      ++gradients;
    } else if (name.find("moving_") != std::string::npos) {  // those of tower 0 alone
      const sx::Tensor& expected = first.at(name);
      EXPECT_LT(RelativeDifference(
                    value, std::vector<double>(expected.data<float>(),
                                               expected.data<float>() + expected.num_elements())),
                1e-5)
          << name;
      EXPECT_FALSE(value.Identical(start.at(name))) << name << " does not move";
      ++statistics;
    }
  }
  EXPECT_EQ(gradients, 7 + 2 * 7 + 2);
  EXPECT_EQ(statistics, 2 * 7);
}

TEST_F(Cifar10ModelTest, DevicesFollowTheVariableStrategy) {
  sx::HParams params = Params(2);
  Model cpu(params, images_, labels_);
  const auto device = [](const Model& model, const std::string& name) {
    const sx::Node* node = model.graph().FindNode(name);
    return node == nullptr ? name + " is not there" : node->device();
  };
  const std::string conv = "/stage/residual_v1/conv2d_1/Conv2D";
  EXPECT_EQ(device(cpu, "resnet/tower_0" + conv), "/device:CPU:0");
  EXPECT_EQ(device(cpu, "resnet/tower_1" + conv), "/device:CPU:1");
  EXPECT_EQ(device(cpu, "resnet/conv2d_5/kernel"), "/device:CPU:0");
  params.Set("variable_strategy", "GPU");  // spread over the towers' devices by bytes
  Model spread(params, images_, labels_);
  std::map<std::string, int64_t> bytes;
  for (const sx::Output& variable : spread.graph().Collection(sx::kTrainableVariables)) {
    bytes[variable.node()->device()] +=
        4 * variable.node()->attr<sx::PartialShape>("shape").AsShape().num_elements();
  }
  ASSERT_EQ(bytes.size(), 2u);
  const int64_t difference = bytes["/device:CPU:0"] - bytes["/device:CPU:1"];
  EXPECT_LE(std::abs(difference), 4 * 3 * 3 * 64 * 64);  // the largest variable
  EXPECT_EQ(device(spread, "resnet/dense/kernel/Momentum"), device(spread, "resnet/dense/kernel"));
  spread.Step();
}

TEST_F(Cifar10ModelTest, PredictsNamesOfClasses) {
  sx::Graph graph;
  const sx::GraphScope use(graph);
  const sx::HParams params = Params(2);
  const sx::RunConfig config;
  sx::Features features;
  features.Set("image", sx::Const(images_));
  const sx::EstimatorSpec spec = ResnetModelFn({features, {}, sx::Mode::kPredict, params, config});
  sx::Session session(graph, {.host_devices = 2});
  session.Run(sx::GlobalVariablesInitializer());
  std::vector<sx::Output> fetches;
  for (const auto& [name, output] : spec.predictions) fetches.push_back(output);
  const auto values = session.Run(fetches);
  ASSERT_EQ(values[1].shape(), (sx::Shape{kBatch, 11}));
  const std::vector<std::string> names = {"airplane", "automobile", "bird", "cat",   "deer", "dog",
                                          "frog",     "horse",      "ship", "truck", "none"};
  for (int64_t i = 0; i < kBatch; ++i) {
    EXPECT_EQ(values[2].data<std::string>()[i], names[values[0].data<int64_t>()[i]]);
  }
}

}  // namespace
}  // namespace cifar10

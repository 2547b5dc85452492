// Gradient accumulation with variables on other tasks: what one process gives, to the bit.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "sextant/sextant.h"
#include "sextant/testing/local_cluster_fixture.h"

namespace sextant::train {
namespace {

struct Kind {
  const char* name;
  Optimizer optimizer;
};

std::vector<Kind> Kinds() {
  const LearningRate falls([](Output step) {
    return Const(Tensor(0.1f)) / (Cast(step, DType::kFloat) + Const(Tensor(1.0f)));
  });
  return {{"sgd", GradientDescent({.learning_rate = 0.1})},
          {"schedule", GradientDescent({.learning_rate = falls})},
          {"momentum", Momentum({.learning_rate = 0.1, .use_nesterov = true})},
          {"adam", Adam({.learning_rate = falls})},
          {"adamw", AdamW({.learning_rate = 0.1, .weight_decay = 0.1})},
          {"adagrad", Adagrad({.learning_rate = 0.1})},
          {"adagrad_da", AdagradDA({.learning_rate = 0.1, .l1_regularization_strength = 0.01})},
          {"adadelta", Adadelta({.learning_rate = 0.1})},
          {"rmsprop", RmsProp({.learning_rate = 0.1, .momentum = 0.9, .centered = true})},
          {"ftrl", Ftrl({.learning_rate = 0.1, .l1_regularization_strength = 0.01})},
          {"proximal_adagrad", ProximalAdagrad({.learning_rate = 0.1})},
          {"proximal_sgd", ProximalGradientDescent({.learning_rate = 0.1})}};
}

class ClusterAccumulationTest : public LocalClusterFixture {
 protected:
  // Six steps, in one process and on the cluster, by an update after every three.
  void ExpectTheSameBits(const Operation& train, const char* what) {
    const Operation init = GlobalVariablesInitializer();
    const std::vector<Variable> variables = CollectedVariables();
    std::vector<Output> values;
    for (const Variable& variable : variables) values.push_back(variable.value());
    Session alone(graph_), clustered(graph_, {}, cluster_.environment(0));
    alone.Run(init);
    clustered.Run(init);
    const std::vector<Tensor> before = alone.Run(values);
    for (int64_t step = 0; step < 6; ++step) {
      const Tensor rows = Tensor::Of<int64_t>({step % 5, (step * 3) % 5, 1});
      const FeedMap feeds = {{ids_, rows}, {scale_, Tensor(0.25f * static_cast<float>(step - 2))}};
      alone.Run(feeds, train);
      clustered.Run(feeds, train);
      const std::vector<Tensor> here = alone.Run(values), there = clustered.Run(values);
      for (size_t i = 0; i < values.size(); ++i) {
        ASSERT_TRUE(here[i].Identical(there[i]))
            << what << ", step " << step << ", " << variables[i].name() << ": "
            << here[i].ToString() << there[i].ToString();
        if (variables[i].name() == "w") {
          EXPECT_EQ(here[i].Identical(before[i]), step < 2) << what << ", step " << step;
        }
      }
    }
  }

  // w and the rows of a table, on both servers.
  Output Loss() {
    const Variable w("w", Tensor::Of<float>({0.5f, -1}));
    const Variable table("table", Tensor::FromVector(std::vector<float>{1, 2, 3, 4, 5}));
    ids_ = Placeholder(DType::kInt64, {3}, "ids");
    scale_ = Placeholder(DType::kFloat, {}, "scale");
    const Output rows = ResourceGather(table.handle(), ids_);
    return Sum(Square(rows - scale_), {0}) + Sum(Square(w.value() * scale_ + 1.0f), {0});
  }

  const std::map<std::string, std::vector<std::string>> spec_ = {{"worker", {"a:1"}},
                                                                 {"ps", {"b:1", "c:1"}}};
  Output ids_, scale_;
};

class EveryOptimizerTest : public ClusterAccumulationTest,
                           public testing::WithParamInterface<Kind> {};

TEST_P(EveryOptimizerTest, GivesTheSameBits) {
  const DeviceScope replica(ReplicaDeviceSetter(spec_));
  const Variable step = GetOrCreateGlobalStep();
  const Operation train =
      AccumulateGradients(GetParam().optimizer, 3).Minimize(Loss(), {.global_step = step});
  std::set<std::string> tasks;
  for (const Variable& variable : CollectedVariables())
    tasks.insert(variable.handle().node()->device());
  EXPECT_EQ(tasks, (std::set<std::string>{"/job:ps/task:0", "/job:ps/task:1"}));
  ExpectTheSameBits(train, GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(All, EveryOptimizerTest, testing::ValuesIn(Kinds()),
                         [](const auto& kind) { return std::string(kind.param.name); });

// What Adam changes last has no step to be beside.
TEST_F(ClusterAccumulationTest, WithoutAStep) {
  const DeviceScope replica(ReplicaDeviceSetter(spec_, {.ps_strategy = RoundRobin(2)}));
  ExpectTheSameBits(AccumulateGradients(Adam(), 3).Minimize(Loss()), "adam");
}

TEST_F(ClusterAccumulationTest, WithTheStepOnTheWorker) {
  const Variable step = GetOrCreateGlobalStep();
  const DeviceScope replica(ReplicaDeviceSetter(spec_));
  ExpectTheSameBits(AccumulateGradients(Adam(), 3).Minimize(Loss(), {.global_step = step}), "adam");
}

TEST_F(ClusterAccumulationTest, WithAllOnOneServer) {
  const DeviceScope replica(ReplicaDeviceSetter({{"ps", {"b:1"}}}));
  const Variable step = GetOrCreateGlobalStep();
  ExpectTheSameBits(AccumulateGradients(Adam(), 3).Minimize(Loss(), {.global_step = step}), "adam");
}

// Those of checkpoints of one process.
TEST_F(ClusterAccumulationTest, NamesStay) {
  for (const bool cluster : {false, true}) {
    Graph graph;
    const GraphScope use(graph);
    std::optional<DeviceScope> replica;
    if (cluster) replica.emplace(ReplicaDeviceSetter(spec_));
    const Variable step = GetOrCreateGlobalStep();
    const NameScope model("model");
    const Output loss = Loss();
    AccumulateGradients(Adam(), 3).Minimize(loss, {.global_step = step});
    std::set<std::string> names;
    for (const Variable& variable : CollectedVariables()) names.insert(variable.name());
    const std::set<std::string> expected = {"AccumulateGradients/steps",
                                            "beta1_power",
                                            "beta2_power",
                                            "global_step",
                                            "model/table",
                                            "model/table/Adam",
                                            "model/table/Adam_1",
                                            "model/table/GradientAccumulator",
                                            "model/table/GradientAccumulator/rows",
                                            "model/w",
                                            "model/w/Adam",
                                            "model/w/Adam_1",
                                            "model/w/GradientAccumulator"};
    EXPECT_EQ(names, expected) << cluster;
  }
}

}  // namespace
}  // namespace sextant::train

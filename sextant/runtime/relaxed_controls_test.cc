// Which control edges between tasks count: all of a user's graph, not all of a training step.
#include "sextant/runtime/relaxed_controls.h"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>

#include "sextant/sextant.h"
#include "sextant/testing/local_cluster_fixture.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

class RelaxedControlsTest : public LocalClusterFixture {
 protected:
  using Calls = std::map<std::string, int>;

  struct Model {
    Output x, loss;
    Variable step;
  };

  // Two layers, one on each server, normalised by their batches or not.
  static Model TwoLayers(bool normalised) {
    Model model{.x = Placeholder(DType::kFloat, {4, 3}, "x")};
    model.step = VariableOn(kPs0, "step", Tensor(int64_t{0}));
    Output y = model.x;
    for (const char* server : {kPs0, kPs1}) {
      const DeviceScope variables([server](const NodeSpec& node) {
        return node.op->name() == "VarHandleOp" ? std::string(server) : std::string();
      });
      const VariableScope scope(server == kPs0 ? "first" : "second");
      y = layers::Dense(y, {.units = 3, .kernel_initializer = initializers::Constant(0.3f)});
      if (normalised) y = layers::BatchNorm(y, {.training = true});
      y = Tanh(y + model.x);
    }
    model.loss = Mean(Square(y), {0, 1});
    return model;
  }
  static std::vector<Operation> Moves() {
    const std::vector<Output> moves = CurrentGraph().Collection(kUpdateOps);
    return {moves.begin(), moves.end()};
  }

  // Without a step to count.
  static Operation TrainBehind(const std::vector<Operation>& moves, const Model& model) {
    const ControlDependencies after(moves);
    return train::GradientDescent({.learning_rate = 0.1f}).Minimize(model.loss);
  }

  // The calls of one step; afterwards all variables are what one process makes of them.
  static Calls CallsOf(const Model& model, const Operation& train) {
    const Tensor x = Tensor::Of<float>({0.5f, 1, -1, 0.25f, 2, -0.5f, 1, 1, 0.125f, -2, 0.75f, 3});
    const FeedMap feeds = {{model.x, x.Reshaped({4, 3})}};
    Calls calls;
    std::mutex mutex;
    LocalCluster cluster({kHere, kPs0, kPs1});
    cluster.set_on_call([&](const Fragment& fragment, CancellationToken&) {
      const std::lock_guard lock(mutex);
      ++calls[fragment.task];
    });
    Session alone(CurrentGraph()), session(CurrentGraph(), {}, cluster.environment(0));
    for (Session* each : {&alone, &session}) each->Run(GlobalVariablesInitializer());
    for (int i = 0; i < 3; ++i) {
      calls.clear();
      alone.Run(feeds, train);
      session.Run(feeds, train);
    }
    const Calls counted = calls;
    for (const Variable& variable : CollectedVariables())
      EXPECT_TRUE(session.Run(variable.value()).Identical(alone.Run(variable.value())))
          << variable.name();
    return counted;
  }

  // The variables after a run of "last" that fails in one process and on the tasks.
  void ExpectFailureLeavesWhatOneProcessLeaves(const FeedMap& feeds, const Operation& last) {
    Session alone(graph_), session(graph_, {}, cluster_.environment(0));
    for (Session* each : {&alone, &session}) {
      each->Run(GlobalVariablesInitializer());
      EXPECT_EQ(StatusOf([&] { each->Run(feeds, last); }).code(), Code::kInvalidArgument);
    }
    for (const Variable& variable : CollectedVariables())
      EXPECT_TRUE(session.Run(variable.value()).Identical(alone.Run(variable.value())))
          << variable.name();
  }
};

TEST_F(RelaxedControlsTest, StepsTakeTwoCallsAServerAndOneToCount) {
  const train::Optimizer optimizers[] = {
      train::GradientDescent({.learning_rate = 0.1f}), train::Adam(),
      train::Momentum({.learning_rate = train::ExponentialDecay(
                           {.learning_rate = 0.1f, .decay_steps = 10, .decay_rate = 0.5f}),
                       .momentum = 0.9f})};
  for (const train::Optimizer& optimizer : optimizers) {
    for (const bool normalised : {false, true}) {
      for (const bool averaged : {false, true}) {
        SCOPED_TRACE(optimizer.name() + (normalised ? " normalised" : "") +
                     (averaged ? " averaged" : ""));
        Graph graph;
        const GraphScope use(graph);
        const Model model = TwoLayers(normalised);
        Operation train;
        {
          const ControlDependencies after(Moves());
          train = optimizer.Minimize(model.loss, {.global_step = model.step});
        }
        if (averaged) {
          const ControlDependencies after({train});
          train::MovingAverage averages({.decay = 0.9f});
          train = Group({train, averages.Apply(CollectedVariables(kTrainableVariables))});
        }
        EXPECT_EQ(CallsOf(model, train), (Calls{{kPs0, 3}, {kPs1, 2}}));
      }
    }
  }
}

// Without a step there is nothing to count.
TEST_F(RelaxedControlsTest, AveragesChangeInTheCallOfTheWeights) {
  const Model model = TwoLayers(true);
  const Operation train = TrainBehind(Moves(), model);
  EXPECT_EQ(CallsOf(model, train), (Calls{{kPs0, 2}, {kPs1, 2}}));
}

TEST_F(RelaxedControlsTest, NothingChangesBehindACheckThatFails) {
  const Variable m0 = VariableOn(kPs0, "m0", Tensor(0.0f)),
                 w0 = VariableOn(kPs0, "w0", Tensor(0.0f));
  const Variable w1 = VariableOn(kPs1, "w1", Tensor(0.0f));
  const Output ok = Placeholder(DType::kBool, {}, "ok");
  Operation both, last;
  {
    const DeviceScope on(kPs0);
    both = Group({m0.AssignAdd(Const(Tensor(1.0f))), Assert(ok, {ok})});
  }
  {
    const ControlDependencies after({both});
    last = w1.AssignAdd(Const(Tensor(1.0f)));
  }
  {
    const ControlDependencies after({both, last});
    last = w0.AssignAdd(Const(Tensor(1.0f)));
  }
  ExpectFailureLeavesWhatOneProcessLeaves({{ok, Tensor(false)}}, last);
}

// The averages of a training wait for the check, and nothing waits for them: the weights do wait
// for the check.
TEST_F(RelaxedControlsTest, WeightsStayWhereACheckBeforeTheAveragesFails) {
  const Output ok = Placeholder(DType::kBool, {}, "ok");
  Operation check;
  {
    const DeviceScope on(kPs0);
    check = Assert(ok, {ok});
  }
  Model model;
  {
    const ControlDependencies after({check});
    model = TwoLayers(true);
  }
  const Operation train = TrainBehind(Moves(), model);
  ExpectFailureLeavesWhatOneProcessLeaves(
      {{ok, Tensor(false)}, {model.x, Tensor::Zeros(DType::kFloat, {4, 3})}}, train);
}

// What a user adds behind a training step waits for all of it.
TEST_F(RelaxedControlsTest, ChangesOfAUserWaitForTheStep) {
  const Model model = TwoLayers(true);
  const Variable flag = VariableOn(kPs1, "flag", Tensor(0.0f));
  const Operation train = TrainBehind(Moves(), model);
  Operation told;
  {
    const ControlDependencies after({train});
    told = flag.AssignAdd(Const(Tensor(1.0f)));
  }
  EXPECT_EQ(CallsOf(model, told), (Calls{{kPs0, 2}, {kPs1, 3}}));
}

}  // namespace
}  // namespace sextant

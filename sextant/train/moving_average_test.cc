#include "sextant/train/moving_average.h"

#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/graph/graph.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/runtime/session.h"
#include "sextant/train/saver.h"

namespace sextant::train {
namespace {

// By hand: 0.9 a + 0.1 x from 0 on is 0.2, 0.48, ….
TEST(MovingAverageTest, AveragesTensorsFromZero) {
  Graph graph;
  const GraphScope use(graph);
  Output loss;
  {
    const NameScope tower("tower_0");
    loss = Add(Placeholder(DType::kFloat, PartialShape(Shape()), "x"), Const(Tensor(0.0f)));
  }
  MovingAverage average({.decay = 0.9f, .name = "avg"});
  const Operation move = average.ApplyToTensors({loss});
  EXPECT_EQ(average.Average(loss).name(), "tower_0/" + loss.node()->name().substr(8) + "/avg");
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  const Output x = graph.FindOutput("tower_0/x");
  const auto after = [&](float value) {
    session.Run({{x, Tensor(value)}}, move);
    return session.Run(average.Average(loss).Read()).scalar<float>();
  };
  EXPECT_FLOAT_EQ(after(2), 0.2f);
  EXPECT_FLOAT_EQ(after(3), 0.48f);
  EXPECT_TRUE(CollectedVariables(kTrainableVariables).empty());
}

TEST(MovingAverageTest, ZeroDebiasGivesTheFirstTensorBack) {
  Graph graph;
  const GraphScope use(graph);
  const Output x = Placeholder(DType::kFloat, PartialShape(Shape()), "x");
  MovingAverage average({.decay = 0.9f, .zero_debias = true});
  const Operation move = average.ApplyToTensors({x});
  Session session(graph);
  session.Run(GlobalVariablesInitializer());
  session.Run({{x, Tensor(5.0f)}}, move);
  EXPECT_NEAR(session.Run(average.Average(x).Read()).scalar<float>(), 5, 1e-5);
  session.Run({{x, Tensor(7.0f)}}, move);  // (0.9 * 0.5 + 0.7) / (1 - 0.81)
  EXPECT_NEAR(session.Run(average.Average(x).Read()).scalar<float>(), 1.15 / 0.19, 1e-5);
}

TEST(MovingAverageTest, RefusesTensorsItCannotHold) {
  Graph graph;
  const GraphScope use(graph);
  MovingAverage average({});
  EXPECT_THROW(average.ApplyToTensors({Placeholder(DType::kFloat, PartialShape{-1})}), Error);
  EXPECT_THROW(average.ApplyToTensors({Const(Tensor(1))}), Error);
}

TEST(MovingAverageTest, StaysBesideItsVariable) {
  Graph graph;
  const GraphScope use(graph);
  std::optional<DeviceScope> there(std::in_place, "/cpu:1");
  const Variable w("w", Tensor(1.0f));
  there.emplace("/cpu:0");
  MovingAverage average({});
  average.Apply({w});
  EXPECT_EQ(average.Average(w).handle().node()->device(), "/device:CPU:1");
}

// The weights are 1 and 2, their averages 10 and 20: a graph that evaluates takes the averages,
// although nothing is averaged in it.
TEST(MovingAverageTest, RestoresAveragesInAGraphThatNeverAppliedThem) {
  const TemporaryDirectory directory;
  const std::string path = JoinPath(directory.path(), "model.ckpt");
  {
    Graph graph;
    const GraphScope use(graph);
    const Variable w("w", Tensor(1.0f)), bias("bias", Tensor(2.0f));
    const Variable step("global_step", Tensor(int64_t{7}), {.trainable = false});
    MovingAverage average({});
    average.Apply({w, bias});
    const std::map<std::string, Variable> names = average.VariablesToRestore();
    EXPECT_EQ(names.size(), 3u);  // the shadows are not restored into themselves
    EXPECT_EQ(names.at("w/ExponentialMovingAverage").name(), "w");
    Saver saver(graph);
    Session session(graph);
    session.Run(GlobalVariablesInitializer());
    session.Run(average.Average(w).Assign(Const(Tensor(10.0f))));
    session.Run(average.Average(bias).Assign(Const(Tensor(20.0f))));
    saver.Save(session, path);
  }
  Graph graph;
  const GraphScope use(graph);
  const Variable w("w", Tensor(0.0f)), bias("bias", Tensor(0.0f));
  const Variable step("global_step", Tensor(int64_t{0}), {.trainable = false});
  Saver averages(graph, {.variables = MovingAverage({.decay = 0.5f}).VariablesToRestore()});
  Saver some(graph, {.variables = MovingAverage({}).VariablesToRestore({w})});
  Session session(graph);
  averages.Restore(session, path);
  EXPECT_EQ(session.Run(w.Read()).scalar<float>(), 10);
  EXPECT_EQ(session.Run(bias.Read()).scalar<float>(), 20);
  EXPECT_EQ(session.Run(step.Read()).scalar<int64_t>(), 7);
  some.Restore(session, path);
  EXPECT_EQ(session.Run(w.Read()).scalar<float>(), 10);
  EXPECT_EQ(session.Run(bias.Read()).scalar<float>(), 2);
}

}  // namespace
}  // namespace sextant::train

#include "sextant/train/rewind_on_nan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "sextant/base/error.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/ops/dataset/graph_iterator.h"
#include "sextant/ops/math/binary.h"
#include "sextant/train/global_step.h"
#include "sextant/train/monitored_session.h"
#include "sextant/train/optimizers.h"

namespace sextant::train {
namespace {

class RewindOnNanTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  const std::string directory_ = std::string(SEXTANT_BINARY_DIR) + "/rewind_test." +
                                 testing::UnitTest::GetInstance()->current_test_info()->name();
};

// w -= x for each x of the data.
struct PoisonedModel {
  Graph graph;
  Output loss;
  Operation step, poison;
  Variable w;

  explicit PoisonedModel(const std::vector<float>& xs) {
    const GraphScope use(graph);
    const auto next =
        data::OneShotIterator(data::FromTensorSlices({{"x", Tensor::FromVector(xs)}})).GetNext();
    w = Variable("w", Tensor(100.0f));
    loss = w.value() * next["x"];
    poison = AssignVariable(w.handle(), Const(Tensor(NAN)));
    step = GradientDescent({.learning_rate = 1})
               .Minimize(loss, {.global_step = GetOrCreateGlobalStep()});
  }
  MonitoredSessionOptions Options(const std::string& directory, HookRef hook) {
    return {.checkpoint_dir = directory,
            .hooks = {std::move(hook)},
            .checkpoints = {.every = {.steps = 2}}};
  }
};

TEST_F(RewindOnNanTest, GoesOnFromTheNewestCheckpointBehindTheBatch) {
  PoisonedModel model({1, 2, 4, NAN, 8, 16});
  std::vector<int64_t> steps;
  MonitoredSession session(
      model.graph,
      model.Options(directory_, RewindOnNan(model.loss, directory_, {.after = [&](int64_t step) {
                                              steps.push_back(step);
                                            }})));
  for (int i = 0; i < 4; ++i) session.Run(model.step);
  // Back at step 2, where 1 and 2 had been taken off: 4 is lost with the bad one.
  EXPECT_EQ(steps, (std::vector<int64_t>{2}));
  EXPECT_EQ(session.global_step(), 2);
  EXPECT_FLOAT_EQ(session.session().Run(model.w.value()).scalar<float>(), 97);
  session.Run(model.step);
  EXPECT_FLOAT_EQ(session.session().Run(model.w.value()).scalar<float>(), 89);
  EXPECT_EQ(session.global_step(), 3);
}

TEST_F(RewindOnNanTest, GivesUpAfterSoManyTimesAlsoWhenResumed) {
  const std::vector<float> xs = {1, NAN, 1, 1, 1, NAN, 1, NAN, 1};
  {
    PoisonedModel model(xs);
    MonitoredSession session(
        model.graph, model.Options(directory_, RewindOnNan(model.loss, directory_, {.times = 2})));
    for (int i = 0; i < 5; ++i) session.Run(model.step);
    session.Close();
  }
  PoisonedModel model(xs);
  MonitoredSession session(
      model.graph, model.Options(directory_, RewindOnNan(model.loss, directory_, {.times = 2})));
  session.Run(model.step);
  session.Run(model.step);
  try {
    session.Run(model.step);
    FAIL() << "went on";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInternal);
    EXPECT_NE(std::string(e.message()).find("is not a number was so 3 times"), std::string::npos)
        << e.message();
  }
}

TEST_F(RewindOnNanTest, TakesAnOlderCheckpointWhenTheNewestIsBad) {
  PoisonedModel model({1, 2, 4, 8, 16});
  MonitoredSession session(model.graph,
                           model.Options(directory_, RewindOnNan(model.loss, directory_)));
  session.Run(model.step);
  session.session().Run(model.poison);
  session.Save(directory_ + "/model.ckpt", 1);
  session.Run(model.step);  // back to step 1, whose w is no number
  EXPECT_EQ(session.global_step(), 1);
  session.Run(model.step);  // back to step 0
  EXPECT_EQ(session.global_step(), 0);
  session.Run(model.step);
  EXPECT_FLOAT_EQ(session.session().Run(model.w.value()).scalar<float>(), 92);
}

TEST_F(RewindOnNanTest, SaysThatThereIsNoCheckpoint) {
  PoisonedModel model({NAN});
  MonitoredSession session(model.graph, {.hooks = {RewindOnNan(model.loss, directory_)}});
  try {
    session.Run(model.step);
    FAIL() << "went on";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.message()).find("there is no checkpoint to go on from"),
              std::string::npos)
        << e.message();
  }
}

}  // namespace
}  // namespace sextant::train

#include "sextant/estimator/early_stopping.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "sextant/base/error.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/ledger.h"
#include "sextant/estimator/train_and_evaluate.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/nn/sum_of_all.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/unary.h"
#include "sextant/train/global_step.h"
#include "sextant/train/monitored_session.h"

namespace sextant {
namespace {

class EarlyStoppingTest : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // The step at which a training ends whose evaluation at the end of step i, for each (i, value),
  // measures that value; 100 when it does not end early.
  int64_t StepOfStop(const train::HookRef& hook,
                     const std::vector<std::pair<int64_t, double>>& values,
                     const std::string& eval_name = "", const std::string& metric = "loss") {
    Graph graph;
    const GraphScope use(graph);
    const Operation step = train::GetOrCreateGlobalStep().AssignAdd(Const(Tensor(int64_t{1})));
    train::MonitoredSession session(graph, {.hooks = {hook, train::StopAtStep(100)}});
    Ledger ledger(directory_);
    while (!session.ShouldStop()) {
      session.Run(step);
      for (const auto& [at, value] : values) {
        if (at != session.global_step()) continue;
        ledger.AddEvaluation({.name = eval_name, .step = at, .metrics = {{metric, value}}});
      }
    }
    return session.global_step();
  }

  const std::string directory_ = std::string(SEXTANT_BINARY_DIR) + "/early_stopping_test." +
                                 testing::UnitTest::GetInstance()->current_test_info()->name();
  const Estimator estimator_{[](const ModelFnArgs&) { return EstimatorSpec(); },
                             {.model_dir = directory_}};
};

TEST_F(EarlyStoppingTest, StopsWithoutDecrease) {
  // Best at 20; at 50 it is 30 steps old, which the next step sees.
  EXPECT_EQ(StepOfStop(StopIfNoDecrease(estimator_, "loss", 30),
                       {{10, 3}, {20, 1}, {30, 2}, {40, 1}, {50, 1.5}, {60, 0.5}}),
            51);
}

TEST_F(EarlyStoppingTest, GoesOnWhileThereIsDecrease) {
  EXPECT_EQ(StepOfStop(StopIfNoDecrease(estimator_, "loss", 30),
                       {{10, 3}, {30, 2}, {50, 1}, {70, 0.5}, {90, 0.1}}),
            100);
}

TEST_F(EarlyStoppingTest, StopsWithoutIncrease) {
  EXPECT_EQ(StepOfStop(StopIfNoIncrease(estimator_, "accuracy", 20),
                       {{10, 0.5}, {20, 0.7}, {30, 0.6}, {40, 0.7}, {50, 0.9}}, "", "accuracy"),
            41);
}

TEST_F(EarlyStoppingTest, LeavesEarlyEvaluationsOut) {
  EXPECT_EQ(StepOfStop(StopIfNoDecrease(estimator_, "loss", 20, {.min_steps = 30}),
                       {{10, 0.1}, {30, 3}, {40, 2}, {50, 2.5}, {60, 2.5}}),
            61);
}

TEST_F(EarlyStoppingTest, StopsBeyondAThreshold) {
  EXPECT_EQ(StepOfStop(StopIfHigher(estimator_, "accuracy", 0.8),
                       {{10, 0.7}, {20, 0.8}, {30, 0.81}, {40, 0.9}}, "", "accuracy"),
            31);
}

TEST_F(EarlyStoppingTest, ReadsTheEvaluationsOfItsName) {
  EXPECT_EQ(StepOfStop(StopIfLower(estimator_, "loss", 1, {.eval_name = "test"}), {{10, 0.5}}),
            100);
  EXPECT_EQ(
      StepOfStop(StopIfLower(estimator_, "loss", 1, {.eval_name = "test"}), {{10, 0.5}}, "test"),
      11);
}

TEST_F(EarlyStoppingTest, JudgesAResumedTrainingByAllItsEvaluations) {
  Ledger(directory_).AddEvaluation({.name = "", .step = 5, .metrics = {{"loss", 1}}});
  EXPECT_EQ(StepOfStop(StopIfNoDecrease(estimator_, "loss", 30), {{20, 2}, {35, 2}, {50, 0}}), 36);
}

TEST_F(EarlyStoppingTest, ReadsTheEvaluationsOfAnEvaluator) {
  Ledger(directory_, "evaluator_0")
      .AddEvaluation({.name = "", .step = 5, .metrics = {{"loss", 0.5}}});
  EXPECT_EQ(StepOfStop(StopIfLower(estimator_, "loss", 1), {}), 1);
}

// w counts the batches down from 10, except that a batch of NaN leaves nothing of it; the loss is
// |w - 4|: best after 6 steps.
Estimator CountDown(const std::string& model_dir, int64_t nan_rewinds = 0) {
  const auto model_fn = [](const ModelFnArgs& args) {
    const Variable w("w", Tensor(10.0f));
    EstimatorSpec spec{.loss = Abs(w.value() - 4.0)};
    if (args.mode != Mode::kTrain) return spec;
    const Output x = SumOfAll(args.features["x"]);
    spec.loss = spec.loss * x;
    spec.train_op = Group(
        {w.AssignSub(x), train::GetOrCreateGlobalStep().AssignAdd(Const(Tensor(int64_t{1})))});
    return spec;
  };
  RunConfig config{.model_dir = model_dir, .keep_checkpoint_max = 2};
  config.save_checkpoints_steps = 2;
  config.nan_rewinds = nan_rewinds;
  return Estimator(model_fn, config);
}

InputFn LossesOf(std::vector<float> values) {
  return [=] { return data::FromTensorSlices({{"x", Tensor::FromVector(values)}}).Batch(1); };
}

TEST_F(EarlyStoppingTest, EndsTrainAndEvaluateWithTheBestCheckpointKept) {
  const Estimator estimator = CountDown(directory_);
  const TrainAndEvaluateResult result = TrainAndEvaluate(
      estimator,
      {.input_fn = LossesOf(std::vector<float>(40, 1)),
       .max_steps = 40,
       .hooks = {StopIfNoDecrease(estimator, "loss", 6)}},
      {.input_fn = LossesOf({1}), .steps = 1, .keep_best = Smaller("loss"), .throttle_secs = 0});
  EXPECT_EQ(result.global_step, 13);  // the evaluation of step 12 is 6 steps after the best
  for (const int step : {6, 12, 13}) {
    EXPECT_TRUE(CheckpointExists(directory_ + "/model.ckpt-" + std::to_string(step))) << step;
  }
  for (const int step : {0, 2, 4, 8, 10}) {
    EXPECT_FALSE(CheckpointExists(directory_ + "/model.ckpt-" + std::to_string(step))) << step;
  }
}

TEST_F(EarlyStoppingTest, ANanSetsATrainingBack) {
  Estimator estimator = CountDown(directory_, 1);
  // Step 4 is bad: back to step 2 with w = 8, then 2 more steps.
  EXPECT_EQ(estimator.Train(LossesOf({1, 1, 1, NAN, 1, 1}), {.max_steps = 6}), 4);
  EXPECT_FLOAT_EQ(estimator.VariableValue("w").scalar<float>(), 6);
  EXPECT_THROW(CountDown(directory_ + "/other").Train(LossesOf({1, NAN})), Error);
}

TEST_F(EarlyStoppingTest, AsksAFunctionEverySoOften) {
  int asked = 0;
  EXPECT_EQ(StepOfStop(StopIf([&] { return ++asked == 3; }, {.steps = 10}), {}), 21);
  EXPECT_EQ(asked, 3);
  EXPECT_THROW(StopIfNoDecrease(estimator_, "loss", 0), Error);
}

}  // namespace
}  // namespace sextant

#include "sextant/estimator/experiment.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/heads.h"
#include "sextant/nn/layers.h"
#include "sextant/train/optimizers.h"

namespace sextant {
namespace {

EstimatorSpec StraightLine(const ModelFnArgs& args) {
  return heads::Regression().Spec(args, layers::Dense(args.features["x"], {.units = 1}),
                                  train::GradientDescent({.learning_rate = 0.1}));
}

Input PointsOfLine() {
  const Tensor x = Tensor::Of<float>({4, 1}, {0, 1, 2, 3});
  const Tensor y = Tensor::Of<float>({4, 1}, {1, 3, 5, 7});
  return data::FromTensorSlices({{"x", x}, {"label", y}}).Repeat().Batch(4);
}

class ExperimentTest : public testing::Test {
 protected:
  ~ExperimentTest() override {
    FileSystem& files = FileSystem::ForPath(directory_);
    if (files.Exists(directory_)) files.DeleteRecursively(directory_);
  }
  Experiment Make(const RunConfig& config, const HParams& params = {}) const {
    return Experiment{.estimator = Estimator(StraightLine, config, params),
                      .train_input_fn = PointsOfLine,
                      .eval_input_fn = PointsOfLine,
                      .train_steps = 40,
                      .eval_steps = 3,
                      .eval_delay_secs = 0,
                      .continuous_eval_throttle_secs = 0};
  }
  EvalResult Run(const std::string& schedule) const {
    return RunExperiment(
        [this](const RunConfig& config, const HParams& params) { return Make(config, params); },
        {.model_dir = directory_, .tf_config = "{}"}, {}, schedule);
  }
  void ExpectError(Code code, const std::string& part, const std::function<void()>& fn) const {
    try {
      fn();
      ADD_FAILURE() << part;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
      EXPECT_NE(error.message().find(part), std::string::npos) << error.message();
    }
  }

  const std::string directory_ = fmt::format("{}experiment_{}", testing::TempDir(), getpid());
};

TEST_F(ExperimentTest, TrainsThenEvaluates) {
  EXPECT_TRUE(Run("train").empty());
  EXPECT_EQ(Run("evaluate").at("global_step"), 40);
  const EvalResult continuous = Run("continuous_eval");
  EXPECT_EQ(continuous.at("global_step"), 40);
  EXPECT_TRUE(FileSystem::ForPath(directory_).Exists(directory_ + "/eval_continuous"));
}

TEST_F(ExperimentTest, DoesBothByDefault) {
  const EvalResult metrics = Run("");
  EXPECT_EQ(metrics.at("global_step"), 40);
  EXPECT_LT(metrics.at("loss"), 1);
}

TEST_F(ExperimentTest, EvaluatesATrainingThatHasEndedAgain) {
  const EvalResult first = Run("");
  EXPECT_EQ(Run(""), first);
}

TEST_F(ExperimentTest, TriesOneStepOfEach) { EXPECT_EQ(Run("test").at("global_step"), 1); }

TEST_F(ExperimentTest, SaysWhatItCannotDo) {
  ExpectError(Code::kInvalidArgument, "there is no schedule 'dance'", [&] { Run("dance"); });
  ExpectError(Code::kInvalidArgument, "makes this process no parameter server but worker 0",
              [&] { Run("run_std_server"); });
  ExpectError(Code::kInvalidArgument, "Experiment.eval_input_fn is not set", [&] {
    Experiment experiment = Make({.model_dir = directory_});
    experiment.eval_input_fn = nullptr;
    RunSchedule(experiment, "train");
  });
  const std::string worker = R"({"cluster": {"chief": ["a:1"], "worker": ["b:1"]},
                                 "task": {"type": "worker", "index": 0}})";
  ExpectError(Code::kUnimplemented, "a cluster without parameter servers",
              [&] { RunSchedule(Make({.model_dir = directory_, .tf_config = worker}), "train"); });
}

TEST_F(ExperimentTest, ChoosesTheScheduleByTheTask) {
  const auto of = [](const std::string& type) {
    return DefaultSchedule(dist::TaskFromTfConfig(
        R"({"cluster": {"master": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]},
            "task": {"type": ")" +
        type + R"(", "index": 0}})"));
  };
  EXPECT_EQ(DefaultSchedule({}), "train_and_evaluate");
  EXPECT_EQ(of("master"), "train_and_evaluate");
  EXPECT_EQ(of("worker"), "train");
  EXPECT_EQ(of("ps"), "run_std_server");
  EXPECT_EQ(DefaultSchedule(dist::TaskFromTfConfig(
                R"({"cluster": {"worker": ["b:1"]}, "environment": "local",
                    "task": {"type": "worker", "index": 0}})")),
            "train_and_evaluate");
}

}  // namespace
}  // namespace sextant

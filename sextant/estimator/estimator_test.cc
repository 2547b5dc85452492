#include "sextant/estimator/estimator.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "sextant/base/error.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/train_and_evaluate.h"
#include "sextant/graph/scope.h"
#include "sextant/nn/losses.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizers.h"

namespace sextant {
namespace {

// y = w x, one variable, plain gradient descent: worked out by hand below.
EstimatorSpec Slope(const ModelFnArgs& args) {
  const Variable w = GetVariable("w", [] { return Const(Tensor(0.0f)); });
  const Output y = w * args.features["x"];
  EstimatorSpec spec{.mode = args.mode, .predictions = {{"y", y}}};
  if (args.mode == Mode::kPredict) return spec;
  spec.loss = losses::MeanSquaredError(args.labels.only(), y);
  if (args.mode == Mode::kTrain) {
    spec.train_op = train::GradientDescent({.learning_rate = 0.25})
                        .Minimize(spec.loss, {.global_step = train::GetOrCreateGlobalStep()});
  }
  return spec;
}

// x = 1, y = 2, again and again.
Input Endless() {
  return data::FromTensors({{"x", Tensor::Of<float>({1})}, {"label", Tensor::Of<float>({2})}})
      .Repeat();
}
Input Times(int64_t count) { return Endless().dataset().Take(count); }

class EstimatorTest : public testing::Test {
 protected:
  EstimatorTest() {
    dir_ = testing::TempDir() + "estimator_test_" + std::to_string(getpid());
    std::filesystem::remove_all(dir_);
  }
  ~EstimatorTest() override { std::filesystem::remove_all(dir_); }
  Estimator Make(const ModelFn& model = Slope) const {
    return Estimator(model, {.model_dir = dir_, .tf_config = "{}"});
  }
  std::string dir_;
};

// Each step halves the distance of w from 2: the gradient is 2 (w - 2), the rate 1/4.
TEST_F(EstimatorTest, TrainsByStepsAndToMaxSteps) {
  Estimator estimator = Make();
  EXPECT_EQ(estimator.Train(Endless, {.steps = 2}), 2);
  EXPECT_FLOAT_EQ(estimator.VariableValue("w").scalar<float>(), 1.5f);
  EXPECT_EQ(estimator.Train(Endless, {.steps = 1}), 3);
  EXPECT_FLOAT_EQ(estimator.VariableValue("w").scalar<float>(), 1.75f);
  EXPECT_EQ(estimator.Train(Endless, {.max_steps = 4}), 4);
  EXPECT_EQ(estimator.Train(Endless, {.max_steps = 4}), 4);
  EXPECT_FLOAT_EQ(estimator.VariableValue("w").scalar<float>(), 1.875f);
  const auto names = estimator.VariableNames();
  EXPECT_TRUE(std::ranges::count(names, "w") == 1 && std::ranges::count(names, "global_step") == 1);
}

// The batch alone is larger; a session without a limit trains with it.
TEST_F(EstimatorTest, BatchesFollowTheMemoryLimit) {
  const InputFn large = [] { return Input(Endless().dataset().Unbatch().Batch(200'000)); };
  const RunConfig unlimited{.model_dir = dir_, .tf_config = "{}"};
  RunConfig limited = unlimited;
  limited.session.memory_limit = 1 << 20;
  const auto expect_refused = [](const std::function<void()>& run) {
    const Status status = StatusOf(run);
    EXPECT_EQ(status.code(), Code::kResourceExhausted);
    EXPECT_NE(status.message().find("choose a smaller batch"), std::string::npos)
        << status.ToString();
  };
  expect_refused([&] { Estimator(Slope, limited).Train(large, {.steps = 1}); });
  EXPECT_EQ(Estimator(Slope, unlimited).Train(large, {.steps = 1}), 1);
  expect_refused([&] { Estimator(Slope, limited).Evaluate(large, {.steps = 1}); });
}

TEST_F(EstimatorTest, EndsWithTheData) {
  EXPECT_EQ(Make().Train([] { return Times(3); }), 3);
  // A loop over epochs, as in TensorFlow: each call reads the data again.
  EXPECT_EQ(Make().Train([] { return Times(3); }), 6);
  EXPECT_EQ(Make().Train([] { return Times(3); }, {.steps = 2}), 8);
  EXPECT_EQ(Make().Train([] { return Times(3); }), 9);  // what was left
}

TEST_F(EstimatorTest, EvaluatesTheNewestOrAGivenCheckpoint) {
  Estimator estimator = Make();
  estimator.Train(Endless, {.steps = 2});
  const EvalResult now = estimator.Evaluate([] { return Times(4); });
  EXPECT_FLOAT_EQ(static_cast<float>(now.at("loss")), 0.25f);  // (2 - 1.5)²
  EXPECT_EQ(now.at("global_step"), 2);
  const EvalResult first =
      estimator.Evaluate([] { return Times(4); }, {.checkpoint_path = dir_ + "/model.ckpt-0"});
  EXPECT_FLOAT_EQ(static_cast<float>(first.at("loss")), 4);
}

TEST_F(EstimatorTest, PredictsExamplesOrBatches) {
  Estimator estimator = Make();
  estimator.Train(Endless, {.steps = 1});  // w = 1
  const InputFn input = [] {
    return data::FromTensorSlices({{"x", Tensor::Of<float>({1, 2, 3})}}).Batch(2);
  };
  std::vector<float> single, whole;
  data::Element element;
  for (Predictions p = estimator.Predict(input); p.Next(&element);) {
    single.push_back(element["y"].scalar<float>());
  }
  EXPECT_EQ(single, (std::vector<float>{1, 2, 3}));
  for (Predictions p = estimator.Predict(input, {.single_examples = false}); p.Next(&element);) {
    whole.push_back(static_cast<float>(element["y"].num_elements()));
  }
  EXPECT_EQ(whole, (std::vector<float>{2, 1}));
}

TEST_F(EstimatorTest, SaysWhatIsMissing) {
  Estimator estimator = Make();
  EXPECT_EQ(StatusOf([&] { estimator.Evaluate(Endless); }).code(), Code::kNotFound);
  EXPECT_EQ(StatusOf([&] { estimator.Predict(Endless); }).code(), Code::kNotFound);
  EXPECT_EQ(StatusOf([&] { estimator.Train(Endless, {.steps = 1, .max_steps = 1}); }).code(),
            Code::kInvalidArgument);
  EXPECT_EQ(StatusOf([&] { estimator.Train(Endless, {.steps = 0}); }).code(),
            Code::kInvalidArgument);
  const Status empty = StatusOf([&] { estimator.Train([] { return Times(0); }, {.steps = 1}); });
  EXPECT_EQ(empty.code(), Code::kInvalidArgument);
  EXPECT_NE(empty.message().find("no batch"), std::string::npos) << empty.message();
  estimator.Train(Endless, {.steps = 1});
  EXPECT_EQ(StatusOf([&] { estimator.Evaluate([] { return Times(0); }); }).code(),
            Code::kInvalidArgument);
  for (const char* name : {"..", "a/b", "\x1b[31m"}) {
    EXPECT_EQ(StatusOf([&] { estimator.Evaluate(Endless, {.steps = 1, .name = name}); }).code(),
              Code::kInvalidArgument);
  }
  const Status key = StatusOf([&] { estimator.Predict(Endless, {.keys = {"z"}}); });
  EXPECT_EQ(key.code(), Code::kNotFound);
  EXPECT_NE(key.message().find("only y"), std::string::npos) << key.message();
  EXPECT_EQ(StatusOf([&] { estimator.ExportSavedModel(dir_ + "/export", {}); }).code(),
            Code::kInvalidArgument);
}

// It says nothing of the checkpoints that are there, which a new training would replace.
TEST_F(EstimatorTest, ADamagedStateFileDoesNotBeginAnew) {
  const std::string path = dir_ + "/checkpoint";
  const auto train = [&](int64_t steps) { return Make().Train(Endless, {.max_steps = steps}); };
  const auto train_and_evaluate = [&] {
    TrainAndEvaluate(Make(), {.input_fn = Endless, .max_steps = 4},
                     {.input_fn = [] { return Times(1); }});
  };
  train(2);
  for (const char* text : {"", "model_checkpoint_path: \"mod", "model_checkpoint_path: \"\"\n"}) {
    std::ofstream(path) << text;
    for (const auto& use : std::vector<std::function<void()>>{
             [&] { train(4); }, [&] { Make().Evaluate(Endless); }, train_and_evaluate}) {
      const Status status = StatusOf(use);
      EXPECT_EQ(status.code(), Code::kDataLoss);
      EXPECT_EQ(status.message(),
                path + " is damaged and names no checkpoint; model.ckpt-2, model.ckpt-0 of " +
                    dir_ +
                    " are whole: to go on from model.ckpt-2, write the line "
                    "model_checkpoint_path: \"model.ckpt-2\" into " +
                    path);
    }
  }
  std::ofstream(path) << "model_checkpoint_path: \"model.ckpt-2\"\n";
  EXPECT_EQ(train(3), 3);
  EXPECT_EQ(Make().VariableValue("w").scalar<float>(), 1.75f);  // three steps: 1, 1.5, 1.75
  // Without checkpoints there is nothing to lose.
  std::filesystem::remove_all(dir_);
  std::filesystem::create_directories(dir_);
  std::ofstream(path) << "";
  EXPECT_EQ(train(2), 2);
}

// As TensorFlow leaves it in a directory that is moved: absolute names, which lead nowhere now.
TEST_F(EstimatorTest, AStateFileThatPointsElsewhereDoesNotBeginAnew) {
  const std::string path = dir_ + "/checkpoint", old = dir_ + "_old/model.ckpt-";
  const auto train = [&](int64_t steps) { return Make().Train(Endless, {.max_steps = steps}); };
  const InputFn once = [] { return Times(1); };
  train(2);
  const auto written = std::filesystem::last_write_time(dir_ + "/model.ckpt-0.index");
  const std::string newest = "model_checkpoint_path: \"" + old + "2\"\n";
  for (const std::string& others :
       {std::string(), "all_model_checkpoint_paths: \"" + old + "0\"\n",
        std::string("all_model_checkpoint_paths: \"model.ckpt-0\"\n")}) {
    std::ofstream(path) << newest + others;
    for (const auto& use : std::vector<std::function<void()>>{
             [&] { train(4); }, [&] { Make().Evaluate(once); }, [&] { Make().VariableNames(); },
             [&] {
               TrainAndEvaluate(Make(), {.input_fn = Endless, .max_steps = 4}, {.input_fn = once});
             }}) {
      const Status status = StatusOf(use);
      EXPECT_EQ(status.code(), Code::kDataLoss);
      EXPECT_EQ(status.message(), "the newest checkpoint " + old +
                                      "2 is missing; model.ckpt-2, model.ckpt-0 of " + dir_ +
                                      " are whole: to go on from model.ckpt-2, write the line "
                                      "model_checkpoint_path: \"model.ckpt-2\" into " +
                                      path);
    }
  }
  EXPECT_EQ(std::filesystem::last_write_time(dir_ + "/model.ckpt-0.index"), written);
  // Without checkpoints there is nothing to lose.
  for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
    if (entry.path().filename() != "checkpoint") std::filesystem::remove_all(entry.path());
  }
  EXPECT_EQ(StatusOf([&] { Make().Evaluate(once); }).code(), Code::kNotFound);
  EXPECT_EQ(train(1), 1);
}

TEST_F(EstimatorTest, SaysWhatAModelFunctionLacks) {
  const auto without = [&](const std::function<void(EstimatorSpec&)>& change) {
    return StatusOf([&] {
      Make([&](const ModelFnArgs& args) {
        EstimatorSpec spec = Slope(args);
        change(spec);
        return spec;
      }).Train(Endless, {.steps = 1});
    });
  };
  EXPECT_NE(without([](EstimatorSpec& s) { s.loss = {}; }).message().find("loss"),
            std::string::npos);
  EXPECT_NE(without([](EstimatorSpec& s) { s.train_op = {}; }).message().find("train_op"),
            std::string::npos);
  const Status vector = without([](EstimatorSpec& s) { s.loss = s.predictions[0].second; });
  EXPECT_NE(vector.message().find("one number"), std::string::npos) << vector.message();
}

}  // namespace
}  // namespace sextant

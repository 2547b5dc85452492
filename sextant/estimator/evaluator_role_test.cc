#include "sextant/estimator/evaluator_role.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>

#include "sextant/base/error.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/done_marker.h"
#include "sextant/estimator/ledger.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/ops/control_flow/control_flow.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/math/unary.h"
#include "sextant/train/global_step.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;
using Steps = std::vector<int64_t>;

// The loss is the global step, so that an evaluation tells which checkpoint it was of.
EstimatorSpec CountModel(const ModelFnArgs& args) {
  const Variable w("w", Tensor(0.0f));
  EstimatorSpec spec{.loss = w.value(), .predictions = {{"w", w.value() + args.features["x"]}}};
  if (args.mode == Mode::kTrain) {
    spec.train_op = Group({w.AssignAdd(Const(Tensor(1.0f))),
                           train::GetOrCreateGlobalStep().AssignAdd(Const(Tensor(int64_t{1})))});
  }
  return spec;
}

Input Ones() {
  return data::FromTensorSlices({{"x", Tensor::FromVector(std::vector<float>{1, 1})}})
      .Repeat()
      .Batch(1);
}

class EvaluatorRoleTest : public testing::Test {
 protected:
  Estimator Trainer(int keep = 0) const {
    return Estimator(CountModel, {.model_dir = model_dir_,
                                  .save_checkpoints_steps = 10,
                                  .keep_checkpoint_max = keep,
                                  .tf_config = "{}"});
  }
  TrainAndEvaluateResult Evaluate(int64_t max_steps, EvalSpec eval, int index = 0) const {
    const std::string config = R"({"cluster": {"chief": ["nowhere:1"], "ps": ["nowhere:2"]},
                                   "task": {"type": "evaluator", "index": )" +
                               std::to_string(index) + "}}";
    const Estimator estimator(CountModel, {.model_dir = model_dir_, .tf_config = config});
    eval.input_fn = Ones;
    eval.steps = 1;
    eval.start_delay_secs = 0;
    const TrainSpec train{.input_fn = Ones, .max_steps = max_steps};
    return RunEvaluator(estimator, train, eval, {.poll = std::chrono::milliseconds(10)});
  }
  EvalSpec Exporting() const {
    const auto receiver = RawReceiver({{"x", DType::kFloat, PartialShape({-1})}});
    return {.exporters = {LatestExporter("latest", receiver), FinalExporter("final", receiver)},
            .throttle_secs = 0};
  }
  // With the value of each: the model's loss is its step.
  Steps Evaluated() const {
    Steps steps;
    const Ledger ledger(model_dir_);
    for (const auto& evaluation : ledger.evaluations()) {
      EXPECT_EQ(evaluation.metrics.at("loss"), static_cast<double>(evaluation.step));
      steps.push_back(evaluation.step);
    }
    return steps;
  }
  int64_t Exports(const std::string& exporter) const {
    int64_t count = 0;
    const Ledger ledger(model_dir_);
    for (const auto& entry : ledger.exports()) {
      if (entry.exporter != exporter) continue;
      EXPECT_TRUE(fs::exists(model_dir_ + "/" + entry.path)) << entry.path;
      ++count;
    }
    return count;
  }
  std::string PrefixOf(int64_t step) const {
    return model_dir_ + "/model.ckpt-" + std::to_string(step);
  }

  const TemporaryDirectory dir_;
  const std::string model_dir_ = dir_.path() + "/model";
};

TEST_F(EvaluatorRoleTest, EvaluatesEachCheckpointOnceBesideATraining) {
  auto evaluator = std::async(std::launch::async, [&] { return Evaluate(50, Exporting()); });
  Trainer().Train(Ones, {.max_steps = 50});
  const TrainAndEvaluateResult result = evaluator.get();
  EXPECT_EQ(result.global_step, 50);
  EXPECT_EQ(result.metrics.at("loss"), 50);
  EXPECT_EQ(Evaluated(), (Steps{0, 10, 20, 30, 40, 50}));
  EXPECT_EQ(Exports("final"), 1);
  EXPECT_GE(Exports("latest"), 1);
}

TEST_F(EvaluatorRoleTest, EndsByItselfWhenTheTrainingEndedEarly) {
  auto evaluator = std::async(std::launch::async, [&] { return Evaluate(1000, Exporting()); });
  Trainer().Train(Ones, {.max_steps = 30});
  Ledger(model_dir_).SetDone(30);
  EXPECT_TRUE(AwaitEvaluator(model_dir_, 30));
  EXPECT_EQ(Exports("final"), 1);  // it is waited for, too
  WriteDoneMarker(model_dir_, {.step = 30, .max_steps = 1000, .reason = "the data ended"});
  EXPECT_EQ(evaluator.get().global_step, 30);
  EXPECT_EQ(Evaluated().back(), 30);
  // One that is started after the end finds nothing to do.
  EXPECT_EQ(Evaluate(1000, Exporting()).metrics.at("loss"), 30);
  EXPECT_EQ(Exports("final"), 1);
}

TEST_F(EvaluatorRoleTest, EndsWithoutACheckpointWhenTheTrainingIsDone) {
  fs::create_directories(model_dir_);
  WriteDoneMarker(model_dir_, {.step = 0, .max_steps = 10, .reason = "the data ended"});
  EXPECT_TRUE(Evaluate(10, Exporting()).metrics.empty());
}

TEST_F(EvaluatorRoleTest, SkipsDamagedAndDeletedCheckpoints) {
  Trainer().Train(Ones, {.max_steps = 50});
  for (const char* end : {".index", ".data-00000-of-00001", ".meta"}) {
    fs::remove(PrefixOf(10) + end);  // as keep_checkpoint_max of the chief does
  }
  fs::remove(PrefixOf(20) + ".data-00000-of-00001");
  fs::resize_file(PrefixOf(30) + ".data-00000-of-00001", 3);
  std::ofstream(PrefixOf(40) + ".index") << "no table";
  EXPECT_EQ(Evaluate(50, Exporting()).global_step, 50);
  EXPECT_EQ(Evaluated(), (Steps{0, 50}));
}

TEST_F(EvaluatorRoleTest, SurvivesDeletionsOfTheChief) {
  auto evaluator = std::async(std::launch::async, [&] { return Evaluate(200, Exporting()); });
  Trainer(/*keep=*/1).Train(Ones, {.max_steps = 200});
  EXPECT_EQ(evaluator.get().global_step, 200);
  EXPECT_EQ(Evaluated().back(), 200);
}

TEST_F(EvaluatorRoleTest, DoesNotRepeatWhatAnEarlierProcessDid) {
  Trainer().Train(Ones, {.max_steps = 20});
  Evaluate(20, Exporting());
  const double time = Ledger(model_dir_).FindEvaluation("", 20)->time;
  EXPECT_EQ(Evaluate(20, Exporting()).metrics.at("loss"), 20);
  EXPECT_EQ(Ledger(model_dir_).FindEvaluation("", 20)->time, time);
  EXPECT_EQ(Exports("final"), 1);
}

TEST_F(EvaluatorRoleTest, TheThrottleLeavesCheckpointsOut) {
  Trainer().Train(Ones, {.max_steps = 40});
  EvalSpec eval = Exporting();
  eval.throttle_secs = 10000;
  Evaluate(40, eval);
  EXPECT_EQ(Evaluated(), (Steps{40}));
  Trainer().Train(Ones, {.max_steps = 60});
  Evaluate(60, eval);  // the last one is never left out
  EXPECT_EQ(Evaluated(), (Steps{40, 60}));
}

TEST_F(EvaluatorRoleTest, OfSeveralEvaluatorsOneTakesACheckpoint) {
  auto first = std::async(std::launch::async, [&] { return Evaluate(60, Exporting(), 0); });
  auto second = std::async(std::launch::async, [&] { return Evaluate(60, Exporting(), 1); });
  Trainer().Train(Ones, {.max_steps = 60});
  EXPECT_EQ(first.get().global_step, 60);
  EXPECT_EQ(second.get().global_step, 60);
  EXPECT_EQ(Evaluated(), (Steps{0, 10, 20, 30, 40, 50, 60}));
  const size_t both = Ledger(model_dir_, "evaluator_0").own_evaluations().size() +
                      Ledger(model_dir_, "evaluator_1").own_evaluations().size();
  EXPECT_EQ(both, 7u);
  EXPECT_EQ(Exports("final"), 1);
}

TEST_F(EvaluatorRoleTest, IsNotWaitedForWhenItIsNotThere) {
  fs::create_directories(model_dir_);
  EXPECT_TRUE(AwaitEvaluator(model_dir_, 30));
  Ledger(model_dir_, "evaluator_0").SetNote("evaluator", "waiting");  // and was killed
  EXPECT_FALSE(AwaitEvaluator(model_dir_, 30, {.begin = std::chrono::milliseconds(20)}));
}

}  // namespace
}  // namespace sextant

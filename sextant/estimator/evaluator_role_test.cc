#include "sextant/estimator/evaluator_role.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <future>

#include "sextant/base/error.h"
#include "sextant/base/faulty_file_system.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/done_marker.h"
#include "sextant/estimator/ledger.h"
#include "sextant/estimator/model_dir_lock.h"
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
  explicit EvaluatorRoleTest(const std::string& model_dir = "")
      : model_dir_(model_dir.empty() ? dir_.path() + "/model" : model_dir) {}

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
  // Of one evaluator alone.
  Steps OwnOf(int index) const {
    Steps steps;
    const Ledger ledger(model_dir_, "evaluator_" + std::to_string(index));
    for (const auto& evaluation : ledger.own_evaluations()) steps.push_back(evaluation.step);
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
  // Until the evaluator has noted that it is there, or has failed. One that is not there yet when
  // the training ends is not waited for.
  void AwaitThere(const std::future<TrainAndEvaluateResult>& evaluator) const {
    while (Ledger(model_dir_).Notes("evaluator").empty() &&
           evaluator.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout) {
    }
  }
  std::string PrefixOf(int64_t step) const {
    return model_dir_ + "/model.ckpt-" + std::to_string(step);
  }

  const TemporaryDirectory dir_;
  const std::string model_dir_;
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

// Workers of a cluster may go further than max_steps, where a checkpoint was due too.
TEST_F(EvaluatorRoleTest, OnlyTheLastCheckpointBehindMaxStepsIsTheFinalExport) {
  Trainer().Train(Ones, {.max_steps = 12});
  EXPECT_EQ(Evaluate(10, Exporting()).global_step, 12);
  EXPECT_EQ(Evaluated(), (Steps{0, 10, 12}));
  EXPECT_EQ(Exports("final"), 1);
}

TEST_F(EvaluatorRoleTest, LeavesNoTrainingThatIsGoingOnAtMaxSteps) {
  Trainer().Train(Ones, {.max_steps = 10});
  auto chief = std::make_unique<ModelDirLock>(model_dir_);
  auto evaluator = std::async(std::launch::async, [&] { return Evaluate(10, Exporting()); });
  const auto evaluated = [&] {
    const Ledger ledger(model_dir_);
    const auto notes = ledger.Notes("evaluator");
    return ledger.FindEvaluation("", 10) && notes.begin()->second == "waiting";
  };
  while (!evaluated() &&
         evaluator.wait_for(std::chrono::milliseconds(1)) == std::future_status::timeout) {
  }
  EXPECT_EQ(Exports("latest"), 2);
  EXPECT_EQ(Exports("final"), 0);
  chief.reset();
  EXPECT_EQ(evaluator.get().global_step, 10);
  EXPECT_EQ(Exports("final"), 1);
}

TEST_F(EvaluatorRoleTest, EndsByItselfWhenTheTrainingEndedEarly) {
  auto evaluator = std::async(std::launch::async, [&] { return Evaluate(1000, Exporting()); });
  AwaitThere(evaluator);
  Trainer().Train(Ones, {.max_steps = 30});
  Ledger(model_dir_).SetDone(30);
  // However long it gets no processor.
  EXPECT_TRUE(AwaitEvaluator(model_dir_, 30, {.begin = std::chrono::minutes(10)}));
  EXPECT_EQ(Exports("final"), 1);  // it is waited for, too
  WriteDoneMarker(model_dir_, {.step = 30, .max_steps = 1000, .reason = "the data ended"});
  EXPECT_EQ(evaluator.get().global_step, 30);
  EXPECT_EQ(Evaluated().back(), 30);
  // One that is started after the end finds nothing to do.
  EXPECT_EQ(Evaluate(1000, Exporting()).metrics.at("loss"), 30);
  EXPECT_EQ(Exports("final"), 1);
}

// Keeps what the evaluator tells others while it makes the last export.
class KeepsTheState : public Exporter {
 public:
  const std::string& name() const override { return name_; }
  std::string Export(const ExportRequest& request) override {
    if (request.is_final) state = request.ledger.Note("evaluator").value_or("");
    return "";
  }
  std::string state;

 private:
  const std::string name_ = "state";
};

// A chief that does not see an evaluator at work gives up: the last export may take long.
TEST_F(EvaluatorRoleTest, IsSeenAtWorkWhileItMakesTheLastExport) {
  const auto exporter = std::make_shared<KeepsTheState>();
  Trainer().Train(Ones, {.max_steps = 30});
  WriteDoneMarker(model_dir_, {.step = 30, .max_steps = 1000, .reason = "the data ended"});
  Evaluate(1000, {.exporters = {exporter}, .throttle_secs = 0});
  EXPECT_EQ(exporter->state, "evaluating 30");
  EXPECT_EQ(Ledger(model_dir_).Notes("evaluator").at("evaluator_0"), "finished 30");
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
  constexpr int kEvaluators = 3;
  std::vector<std::future<TrainAndEvaluateResult>> evaluators;
  for (int i = 0; i < kEvaluators; ++i) {
    evaluators.push_back(
        std::async(std::launch::async, [this, i] { return Evaluate(60, Exporting(), i); }));
  }
  Trainer().Train(Ones, {.max_steps = 60});
  size_t evaluations = 0;
  for (int i = 0; i < kEvaluators; ++i) {
    EXPECT_EQ(evaluators[static_cast<size_t>(i)].get().global_step, 60);
    evaluations += OwnOf(i).size();
  }
  EXPECT_EQ(Evaluated(), (Steps{0, 10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(evaluations, 7u);
  EXPECT_EQ(Exports("final"), 1);
}

TEST_F(EvaluatorRoleTest, IsNotWaitedForWhenItIsNotThere) {
  fs::create_directories(model_dir_);
  EXPECT_TRUE(AwaitEvaluator(model_dir_, 30));
  Ledger(model_dir_, "evaluator_0").SetNote("evaluator", "waiting");  // and was killed
  EXPECT_FALSE(AwaitEvaluator(model_dir_, 30, {.begin = std::chrono::milliseconds(20)}));
}

// Two evaluators want the checkpoint of step 10. The test is the other one, and acts at the moments
// that matter: first just before the note of this one about that step is in place, then each time
// this one looks at model_dir again.
class EvaluatorClaimTest : public EvaluatorRoleTest {
 protected:
  using Operation = FaultyFileSystem::Operation;
  using Script = std::vector<std::function<void()>>;

  EvaluatorClaimTest() : EvaluatorRoleTest(NewModelDir()) {
    before_ = [this](Operation operation, const std::string& path) { Before(operation, path); };
  }
  ~EvaluatorClaimTest() override { before_ = nullptr; }

  // What evaluator `index`, of 0 and 1, has evaluated itself when the other one has acted.
  Steps EvaluatedBeside(Script script, int index = 0) {
    Trainer().Train(Ones, {.max_steps = 10});
    other_ = "evaluator_" + std::to_string(1 - index);
    noting_ = "/sextant_ledger.evaluator_" + std::to_string(index) + ".json";
    script_ = std::move(script);
    EXPECT_EQ(Evaluate(10, {.throttle_secs = 0}, index).global_step, 10);
    EXPECT_EQ(acted_, script_.size());
    EXPECT_EQ(Evaluated(), (Steps{0, 10}));
    return OwnOf(index);
  }
  void Note(const std::string& state) const {
    Ledger(model_dir_, other_).SetNote("evaluator", state);
  }
  void AddEvaluation() const {
    Ledger(model_dir_, other_).AddEvaluation({"", 10, 0, {{"loss", 10}}});
    Note("waiting");
  }

 private:
  static std::string NewModelDir() {
    static MemoryFileSystem& memory = *new MemoryFileSystem;
    static const bool registered = [] {
      const auto call = [](Operation operation, const std::string& path) {
        if (before_) before_(operation, path);
      };
      FileSystem::Register("claims", std::make_unique<FaultyFileSystem>(
                                         memory, FaultyFileSystem::Faults{.before = call}));
      return true;
    }();
    static int count = 0;
    return "claims://" + std::to_string(count += registered);
  }
  // Whether this one tells others there that it is taking or evaluating it.
  bool IsOfStepTen(const std::string& path) const {
    return path.starts_with(model_dir_ + noting_) &&
           FileSystem::ForPath(path).ReadFile(path).find("ing 10\"") != std::string::npos;
  }
  void Before(Operation operation, const std::string& path) {
    const bool lists = operation == Operation::kListDirectory && path == model_dir_;
    const bool notes =
        operation == Operation::kRename && path.starts_with(model_dir_ + "/sextant_ledger");
    if ((!lists && !notes) || acts_ || acted_ == script_.size()) return;
    const bool due = acted_ > 0 ? lists : notes && IsOfStepTen(path);
    if (!due) return;
    acts_ = true;
    script_[acted_++]();
    acts_ = false;
  }

  static inline std::function<void(Operation, const std::string&)> before_;
  std::string other_;   // name of the other one
  std::string noting_;  // file of this one
  Script script_;
  size_t acted_ = 0;
  bool acts_ = false;
};

TEST_F(EvaluatorClaimTest, OneThatWasEvaluatedMeanwhileIsLeft) {
  EXPECT_EQ(EvaluatedBeside({[&] { AddEvaluation(); }}), (Steps{0}));
}

TEST_F(EvaluatorClaimTest, OneThatWasTakenMeanwhileIsLeft) {
  EXPECT_EQ(EvaluatedBeside({[&] { Note("evaluating 10"); }, [] {}, [&] { AddEvaluation(); }}),
            (Steps{0}));
}

TEST_F(EvaluatorClaimTest, WaitsUntilALaterOneThatIsTakingItHasTakenIt) {
  EXPECT_EQ(EvaluatedBeside({[&] { Note("taking 10"); }, [] {}, [&] { Note("evaluating 10"); },
                             [] {}, [&] { AddEvaluation(); }}),
            (Steps{0}));
}

TEST_F(EvaluatorClaimTest, WaitsUntilALaterOneThatIsTakingItGivesWay) {
  EXPECT_EQ(EvaluatedBeside({[&] { Note("taking 10"); }, [] {}, [&] { Note("waiting"); }}),
            (Steps{0, 10}));
}

TEST_F(EvaluatorClaimTest, GivesWayToAnEarlierOneThatIsTakingIt) {
  const auto gave_way = [&] {
    EXPECT_EQ(Ledger(model_dir_).Notes("evaluator").at("evaluator_1"), "waiting");
    AddEvaluation();
  };
  EXPECT_EQ(EvaluatedBeside({[&] { Note("taking 10"); }, [] {}, gave_way}, 1), (Steps{0}));
}

}  // namespace
}  // namespace sextant

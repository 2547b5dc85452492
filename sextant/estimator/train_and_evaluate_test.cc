#include "sextant/estimator/train_and_evaluate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_file.h"
#include "sextant/data/sources.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/ledger.h"
#include "sextant/formats/checkpoint_journal.h"
#include "sextant/formats/event_reader.h"
#include "sextant/formats/tensor_bundle_reader.h"
#include "sextant/nn/layers.h"
#include "sextant/nn/losses.h"
#include "sextant/nn/metrics.h"
#include "sextant/ops/math/activation.h"
#include "sextant/proto/event.pb.h"
#include "sextant/runtime/saved_model.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizers.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

// y = 3 x - 1 on 64 points; the model has dropout, so that random streams count.
Tensor Points() {
  Tensor x(DType::kFloat, Shape({64, 1}));
  for (int i = 0; i < 64; ++i) x.data<float>()[i] = static_cast<float>(i) / 32 - 1;
  return x;
}
Tensor Values() {
  Tensor y = Points().Clone();
  for (float& value : y.flat<float>()) value = 3 * value - 1;
  return y;
}

Input TrainInput() {
  return data::FromTensorSlices({{"x", Points()}, {"label", Values()}})
      .Shuffle(64, {.seed = 5})
      .Repeat()
      .Batch(8);
}
Input EvalInput() {
  return data::FromTensorSlices({{"x", Points()}, {"label", Values()}}).Batch(10);
}

EstimatorSpec Line(const ModelFnArgs& args) {
  Output x = layers::Dense(args.features["x"], {.units = 8, .activation = Relu});
  x = layers::Dropout(x, {.rate = 0.2f, .training = args.mode == Mode::kTrain});
  const Output y = layers::Dense(x, {.units = 1});
  EstimatorSpec spec{.mode = args.mode, .predictions = {{"y", y}}};
  if (args.mode == Mode::kPredict) return spec;
  spec.loss = losses::MeanSquaredError(args.labels.only(), y);
  spec.eval_metrics = {{"mae", metrics::MeanAbsoluteError(args.labels.only(), y)}};
  if (args.mode == Mode::kTrain) {
    spec.train_op = train::Adam({.learning_rate = args.params.Get<double>("rate", 0.02)})
                        .Minimize(spec.loss, {.global_step = train::GetOrCreateGlobalStep()});
  }
  return spec;
}

ServingInputFn Receiver() { return RawReceiver({{"x", DType::kFloat, PartialShape({-1, 1})}}); }

class TrainAndEvaluateTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    dir_ = testing::TempDir() + "train_and_evaluate_" + info->name() + std::to_string(getpid());
    fs::remove_all(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }
  Estimator Make(const std::string& name = "model", int64_t every = 20) const {
    return Estimator(Line, {.model_dir = dir_ + "/" + name,
                            .random_seed = 7,
                            .save_summary_steps = 10,
                            .save_checkpoints_steps = every,
                            .log_step_count_steps = 10});
  }
  EvalSpec Eval() const {
    return {.input_fn = EvalInput,
            .exporters = {LatestExporter("latest", Receiver()), FinalExporter("final", Receiver()),
                          BestExporter("best", Receiver())},
            .throttle_secs = 0};
  }
  std::string dir_;
};

std::vector<std::string> Listing(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    std::string name = fs::relative(entry.path(), directory).string();
    if (const size_t at = name.find("events.out.tfevents"); at != std::string::npos) {
      name = name.substr(0, at) + "events";
    }
    names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<int64_t> EvaluatedSteps(const std::string& model_dir) {
  const Ledger ledger(model_dir);
  std::vector<int64_t> steps;
  for (const auto& evaluation : ledger.evaluations()) steps.push_back(evaluation.step);
  return steps;
}

TEST_F(TrainAndEvaluateTest, LeavesWhatTensorFlowDoes) {
  const auto result = TrainAndEvaluate(Make(), {.input_fn = TrainInput, .max_steps = 50},
                                       {.input_fn = EvalInput, .throttle_secs = 0});
  EXPECT_EQ(result.global_step, 50);
  EXPECT_EQ(result.metrics.at("global_step"), 50);
  EXPECT_TRUE(result.metrics.contains("mae"));
  std::vector<std::string> want = {"checkpoint", "eval",        "eval/events",
                                   "events",     "graph.pbtxt", "sextant_ledger.json"};
  for (const char* step : {"0", "20", "40", "50"}) {
    for (const char* end : {".data-00000-of-00001", ".index", ".meta"}) {
      want.push_back(std::string("model.ckpt-") + step + end);
    }
  }
  std::sort(want.begin(), want.end());
  EXPECT_EQ(Listing(dir_ + "/model"), want);
}

TEST_F(TrainAndEvaluateTest, EvaluatesEveryCheckpointButTheFirst) {
  TrainAndEvaluate(Make(), {.input_fn = TrainInput, .max_steps = 50}, Eval());
  EXPECT_EQ(EvaluatedSteps(dir_ + "/model"), (std::vector<int64_t>{20, 40, 50}));
  const Ledger ledger(dir_ + "/model");
  EXPECT_LT(ledger.evaluations()[2].metrics.at("loss"), ledger.evaluations()[0].metrics.at("loss"));
  EXPECT_EQ(ledger.done(), 50);
  // 3 of latest, 1 of final, as many of best as there were improvements.
  int64_t latest = 0, final = 0, best = 0;
  for (const auto& entry : ledger.exports()) {
    EXPECT_TRUE(fs::exists(dir_ + "/model/" + entry.path + "/saved_model.pb")) << entry.path;
    (entry.exporter == "latest" ? latest : entry.exporter == "final" ? final : best) += 1;
  }
  EXPECT_EQ(latest, 3);
  EXPECT_EQ(final, 1);
  EXPECT_GE(best, 1);
}

TEST_F(TrainAndEvaluateTest, EvaluationInTheProcessIsThatOfTheCheckpoint) {
  Estimator estimator = Make();
  const auto result =
      TrainAndEvaluate(estimator, {.input_fn = TrainInput, .max_steps = 40}, Eval());
  const EvalResult again = estimator.Evaluate(EvalInput, {.name = "again"});
  EXPECT_EQ(result.metrics, again);
  EXPECT_TRUE(fs::exists(dir_ + "/model/eval_again"));
}

TEST_F(TrainAndEvaluateTest, TakesUpAFinishedTrainingWithoutRunningIt) {
  TrainAndEvaluate(Make(), {.input_fn = TrainInput, .max_steps = 40}, Eval());
  const auto before = Listing(dir_ + "/model");
  const auto result = TrainAndEvaluate(Make(), {.input_fn = TrainInput, .max_steps = 40}, Eval());
  EXPECT_EQ(result.global_step, 40);
  EXPECT_TRUE(result.metrics.empty());
  EXPECT_EQ(Listing(dir_ + "/model"), before);
}

// A process may be killed between the state file of its last checkpoint and its last line in the
// ledger.
TEST_F(TrainAndEvaluateTest, AFinishedTrainingIsTidiedUpToo) {
  const TrainSpec train{.input_fn = TrainInput, .max_steps = 40};
  TrainAndEvaluate(Make(), train, Eval());
  std::string left = TemporaryName(dir_ + "/model/sextant_ledger.json");
  const std::string own = fmt::format("-{}-", getpid()), old = dir_ + "/model/model.ckpt-7";
  left.replace(left.rfind(own), own.size(), "-999999999-");  // a process that is not there
  for (const bool evaluates : {true, false}) {
    std::ofstream(left) << "half a line";
    std::ofstream(old + ".index") << "the data is deleted";
    CheckpointJournal(dir_ + "/model").Note({old});
    if (evaluates) {
      TrainAndEvaluate(Make(), train, Eval());
    } else {
      Make().Train(TrainInput, {.max_steps = 40});
    }
    EXPECT_FALSE(fs::exists(left)) << evaluates;
    EXPECT_FALSE(fs::exists(old + ".index")) << evaluates;
    EXPECT_FALSE(fs::exists(dir_ + "/model/checkpoint.journal")) << evaluates;
  }
}

// A training stopped at any step and taken up again ends with the same bits.
TEST_F(TrainAndEvaluateTest, GoesOnExactly) {
  TrainAndEvaluate(Make("whole"), {.input_fn = TrainInput, .max_steps = 60}, Eval());
  for (const int64_t stop : {7, 20, 33, 59}) {
    const std::string name = "parts" + std::to_string(stop);
    Make(name).Train(TrainInput, {.max_steps = stop});
    TrainAndEvaluate(Make(name), {.input_fn = TrainInput, .max_steps = 60}, Eval());
    const auto whole = ReadCheckpoint(dir_ + "/whole/model.ckpt-60");
    const auto parts = ReadCheckpoint(dir_ + "/" + name + "/model.ckpt-60");
    ASSERT_EQ(whole.size(), parts.size());
    for (const auto& [variable, value] : whole) {
      if (variable == "sextant/run_state") continue;
      EXPECT_TRUE(value.Identical(parts.at(variable))) << variable << " after " << stop;
    }
  }
}

TEST_F(TrainAndEvaluateTest, ThrottlesByStepsAndSeconds) {
  TrainAndEvaluate(Make("steps"), {.input_fn = TrainInput, .max_steps = 100},
                   {.input_fn = EvalInput, .throttle_secs = 0, .throttle_steps = 40});
  EXPECT_EQ(EvaluatedSteps(dir_ + "/steps"), (std::vector<int64_t>{20, 60, 100}));
  TrainAndEvaluate(Make("seconds"), {.input_fn = TrainInput, .max_steps = 100},
                   {.input_fn = EvalInput, .throttle_secs = 1000});
  EXPECT_EQ(EvaluatedSteps(dir_ + "/seconds"), (std::vector<int64_t>{20, 100}));
}

TEST_F(TrainAndEvaluateTest, ExportsRunWithTheTrainedWeights) {
  Estimator estimator = Make();
  const auto result =
      TrainAndEvaluate(estimator, {.input_fn = TrainInput, .max_steps = 40}, Eval());
  ASSERT_FALSE(result.exports.empty());
  const SavedModel model = SavedModel::Load(result.exports[0]);
  Predictions predictions = estimator.Predict(EvalInput, {.keys = {"y"}});
  const auto outputs = model.signature("serving_default").Run({{"x", Points()}});
  data::Element row;
  for (int64_t i = 0; i < 64; ++i) {
    ASSERT_TRUE(predictions.Next(&row));
    EXPECT_FLOAT_EQ(row["y"].data<float>()[0], outputs.at("y").data<float>()[i]);
  }
  EXPECT_FALSE(predictions.Next(&row));
}

TEST_F(TrainAndEvaluateTest, RefusesATrainingWithoutCheckpoints) {
  try {
    TrainAndEvaluate(Make("model", 0), {.input_fn = TrainInput, .max_steps = 5}, Eval());
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::kInvalidArgument);
    EXPECT_NE(e.message().find("save_checkpoints_steps"), std::string::npos) << e.message();
  }
}

TEST_F(TrainAndEvaluateTest, AFailedStartLeavesNoLedger) {
  const auto fails = [] { return Input(data::Dataset()); };
  EXPECT_THROW(TrainAndEvaluate(Make(), {.input_fn = fails, .max_steps = 5}, Eval()), Error);
  EXPECT_FALSE(fs::exists(dir_ + "/model/sextant_ledger.json"));
}

TEST_F(TrainAndEvaluateTest, RefusesBadSpecs) {
  const auto code = [&](const TrainSpec& train, const EvalSpec& eval) {
    try {
      TrainAndEvaluate(Make(), train, eval);
    } catch (const Error& e) {
      return e.code();
    }
    return Code::kOk;
  };
  EXPECT_EQ(code({.max_steps = 5}, Eval()), Code::kInvalidArgument);
  EXPECT_EQ(code({.input_fn = TrainInput, .max_steps = 0}, Eval()), Code::kInvalidArgument);
  EXPECT_EQ(code({.input_fn = TrainInput, .max_steps = 5}, {.input_fn = EvalInput, .steps = 0}),
            Code::kInvalidArgument);
  EvalSpec twice = Eval();
  twice.exporters.push_back(FinalExporter("latest", Receiver()));
  EXPECT_EQ(code({.input_fn = TrainInput, .max_steps = 5}, twice), Code::kInvalidArgument);
  EvalSpec named = Eval();
  for (const char* name : {"..", ".", "a/b", "../x", "a\nb", "\x1b[31m"}) {
    named.name = name;
    EXPECT_EQ(code({.input_fn = TrainInput, .max_steps = 5}, named), Code::kInvalidArgument);
    EXPECT_EQ(StatusOf([&] { LatestExporter(name, Receiver()); }).code(), Code::kInvalidArgument);
  }
  EXPECT_EQ(StatusOf([] { FinalExporter("", Receiver()); }).code(), Code::kInvalidArgument);
}

// The ledger's last evaluation seems to be in the future.
TEST_F(TrainAndEvaluateTest, AClockThatWasSetBackDoesNotStopEvaluations) {
  EvalSpec eval{.input_fn = EvalInput, .throttle_secs = 0};
  TrainAndEvaluate(Make(), {.input_fn = TrainInput, .max_steps = 40}, eval);
  Ledger ledger(dir_ + "/model");
  Ledger::Evaluation last = ledger.evaluations().back();
  last.time += 1e6;
  ledger.AddEvaluation(last);
  eval.throttle_secs = 1e-6;
  TrainAndEvaluate(Make(), {.input_fn = TrainInput, .max_steps = 100}, eval);
  EXPECT_EQ(EvaluatedSteps(dir_ + "/model"), (std::vector<int64_t>{20, 40, 60, 80, 100}));
}

TEST_F(TrainAndEvaluateTest, FindsWhatTheEvaluationLacksBeforeTheFirstStep) {
  const data::ElementSpec spec = {{"x", DType::kFloat, Shape({1})},
                                  {"label", DType::kFloat, Shape({1})}};
  const auto missing = [&] {
    return data::TextLines({dir_ + "/missing.txt"})
        .Map([](data::Element e) { return e; }, {.spec = spec})
        .Batch(10);
  };
  const auto none = [] { return EvalInput().dataset().Unbatch().Batch(0); };
  const auto empty = [] { return EvalInput().dataset().Take(0); };
  const auto unreadable = [&] {
    return EvalInput()
        .dataset()
        .Unbatch()
        .Map([](const data::Element&) -> data::Element { throw DataLoss("damaged"); },
             {.spec = spec})
        .Batch(10);
  };
  const std::vector<std::pair<InputFn, Code>> cases = {{missing, Code::kNotFound},
                                                       {none, Code::kInvalidArgument},
                                                       {empty, Code::kInvalidArgument},
                                                       {unreadable, Code::kDataLoss}};
  for (const auto& [input, code] : cases) {
    try {
      TrainAndEvaluate(Make(), {.input_fn = TrainInput, .max_steps = 40}, {.input_fn = input});
      ADD_FAILURE() << "it was not found";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << e.message();
    }
    EXPECT_FALSE(Make().LatestCheckpoint().has_value());
  }
}

TEST_F(TrainAndEvaluateTest, ADamagedCheckpointNamesThoseThatAreWhole) {
  const std::string model = dir_ + "/model";
  const auto train = [&](int64_t steps) {
    TrainAndEvaluate(Make(), {.input_fn = TrainInput, .max_steps = steps},
                     {.input_fn = EvalInput, .throttle_secs = 0});
  };
  const auto message = [&](const std::function<void()>& f) {
    try {
      f();
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Code::kDataLoss);
      return e.message();
    }
    return std::string();
  };
  train(60);
  const std::string advice =
      "model.ckpt-40, model.ckpt-0 of " + model +
      " are whole: to go on from model.ckpt-40, write the line model_checkpoint_path: "
      "\"model.ckpt-40\" into " +
      model + "/checkpoint";
  fs::resize_file(model + "/model.ckpt-60.data-00000-of-00001", 10);
  fs::resize_file(model + "/model.ckpt-20.data-00000-of-00001", 10);
  for (const auto& use :
       std::vector<std::function<void()>>{[&] { train(80); }, [&] { Make().Evaluate(EvalInput); },
                                          [&] { Make().Train(TrainInput, {.max_steps = 80}); }}) {
    const std::string told = message(use);
    EXPECT_TRUE(told.starts_with(model + "/model.ckpt-60 is damaged: ")) << told;
    EXPECT_TRUE(told.ends_with("; " + advice)) << told;
  }
  fs::remove(model + "/model.ckpt-60.index");
  EXPECT_EQ(message([&] { train(80); }),
            "the newest checkpoint " + model + "/model.ckpt-60 is missing; " + advice);
  std::ofstream(model + "/checkpoint") << "model_checkpoint_path: \"model.ckpt-40\"\n";
  train(80);
  EXPECT_EQ(EvaluatedSteps(model), (std::vector<int64_t>{20, 40, 60, 80}));
}

// The process was killed between its first checkpoint and the graph.
TEST_F(TrainAndEvaluateTest, AGraphThatIsMissingIsWritten) {
  const std::string model = dir_ + "/model";
  Make().Train(TrainInput, {.max_steps = 20});
  for (const auto& entry : fs::directory_iterator(model)) {
    if (IsEventFileName(entry.path().string())) fs::remove(entry.path());
  }
  fs::remove(model + "/graph.pbtxt");
  Make().Train(TrainInput, {.max_steps = 40});
  EXPECT_TRUE(fs::exists(model + "/graph.pbtxt"));
  int graphs = 0;
  for (const auto& entry : fs::directory_iterator(model)) {
    if (!IsEventFileName(entry.path().string())) continue;
    EventReader reader(entry.path().string());
    for (proto::Event event; reader.Next(&event);) graphs += !event.graph_def().empty();
  }
  EXPECT_EQ(graphs, 1);
}

TEST_F(TrainAndEvaluateTest, EmptyDataLeavesTheDirectoryToOthers) {
  const auto empty = [] { return TrainInput().dataset().Take(0); };
  try {
    TrainAndEvaluate(Make(), {.input_fn = empty, .max_steps = 20}, {.input_fn = EvalInput});
    ADD_FAILURE() << "it trained without data";
  } catch (const Error& e) {
    EXPECT_EQ(e.message(), "the training input gave no batch; is the data empty?");
  }
  EXPECT_EQ(Listing(dir_ + "/model"), std::vector<std::string>{});
}

}  // namespace
}  // namespace sextant

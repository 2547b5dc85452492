#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/cli/command.h"
#include "sextant/cli/train/census_run.h"
#include "sextant/cli/train/train_command.h"
#include "sextant/cli/train/train_progress.h"
#include "sextant/cli/train/trained_model.h"
#include "sextant/runtime/saved_model.h"

namespace sextant::cli {
namespace {

using Json = nlohmann::json;

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(TrainTest, TrainsEvaluatesAndExports) {
  const CensusRun run("TrainsEvaluatesAndExports");
  const std::string out = run.Train();
  EXPECT_NE(out.find("is at step 20."), std::string::npos) << out;
  EXPECT_NE(out.find("  accuracy "), std::string::npos) << out;
  EXPECT_NE(out.find("Exported to "), std::string::npos) << out;
  const auto names = FileSystem::ForPath(run.model_dir()).ListDirectory(run.model_dir());
  for (const char* name : {"checkpoint", "eval", "export", "graph.pbtxt", "model.ckpt-20.index",
                           "sextant_model.json"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST(TrainTest, GoesOnWhereItWas) {
  const CensusRun run("GoesOnWhereItWas");
  run.Train("linear");
  const std::string out = run.Train("linear", "train_steps=30");
  EXPECT_NE(out.find("is at step 30."), std::string::npos) << out;
}

TEST(TrainTest, KeepsTheSeed) {
  const CensusRun run("KeepsTheSeed");
  const models::RegisteredModel& model = models::FindModel("linear");
  HParams params = models::DefaultParams(model);
  params.Parse("train_steps=5,train_batch_size=20,eval_steps=2");
  TrainFlags flags = run.flags();
  flags.seed = 4;
  std::ostringstream out;
  TrainModel(model, params, flags, out);
  EXPECT_EQ(SeedOfTraining(run.model_dir()), 4);
  params.Parse("train_steps=10");
  flags.seed = 5;
  EXPECT_NE(
      MessageOf([&] { TrainModel(model, params, flags, out); }).find("has seed 4; leave --seed"),
      std::string::npos);
  flags.seed = -1;
  TrainModel(model, params, flags, out);
  EXPECT_NE(out.str().find("is at step 10."), std::string::npos) << out.str();
}

TEST(TrainTest, PrintsLinesOfJson) {
  const CensusRun run("PrintsLinesOfJson");
  const models::RegisteredModel& model = models::FindModel("linear");
  HParams params = models::DefaultParams(model);
  params.Parse("train_steps=20,train_batch_size=20,eval_steps=2");
  TrainFlags flags = run.flags();
  flags.json = true;
  flags.log_step_count_steps = 10;
  std::ostringstream out;
  TrainModel(model, params, flags, out);
  std::vector<std::string> events;
  Json last_eval, first;
  for (const std::string& line : Lines(out.str())) {
    const Json json = Json::parse(line);
    events.push_back(json.at("event"));
    if (events.size() == 1) first = json;
    if (json.at("event") == "eval") last_eval = json;
  }
  const std::vector<std::string> expected = {"train", "train", "train", "eval", "export", "done"};
  EXPECT_EQ(events, expected) << out.str();
  EXPECT_EQ(first.at("step"), 1);
  // Zero weights: every row costs ln 2.
  EXPECT_NEAR(first.at("loss").get<double>(), 20 * std::log(2), 1e-4);
  EXPECT_EQ(last_eval.at("step"), 20);
  EXPECT_EQ(last_eval.at("metrics").at("global_step"), 20);
}

TEST(TrainTest, EvaluatesAndExportsByTheDirectoryAlone) {
  const CensusRun run("EvaluatesAndExports");
  run.Train("wide_deep", "num_layers=2,embedding_size=4");
  std::ostringstream eval;
  EvalModel({.model_dir = run.model_dir(), .data = run.data(), .steps = 0, .json = true}, eval);
  const Json json = Json::parse(eval.str());
  EXPECT_EQ(json.at("step"), 20);
  EXPECT_TRUE(json.at("metrics").contains("auc"));
  std::ostringstream table;
  EvalModel({.model_dir = run.model_dir(), .data = run.data()}, table);
  EXPECT_NE(table.str().find("at step 20:\n  accuracy"), std::string::npos) << table.str();

  for (const char* receiver : {"json", "csv", "example", "raw"}) {
    std::ostringstream out;
    ExportModel({.model_dir = run.model_dir(),
                 .out = run.directory() + "/export_" + receiver,
                 .receiver = receiver},
                out);
    const SavedModel model = SavedModel::Load(Lines(out.str()).at(0));
    EXPECT_EQ(model.signature("predict").inputs().size(),
              receiver[0] == 'j' || receiver[0] == 'r' ? 13u : 1u);
  }
}

// Tripled, the rate makes it learn the sequences in 150 steps.
TEST(TrainTest, TrainsAModelThatMakesItsOwnData) {
  const TemporaryDirectory directory;
  const models::RegisteredModel& model = models::FindModel("sequence_autoencoder");
  HParams params = models::DefaultParams(model);
  params.Parse("train_steps=150,learning_rate=0.15");
  TrainFlags flags;
  flags.model_dir = directory.path() + "/run";
  flags.seed = 1;
  std::ostringstream out, eval;
  TrainModel(model, params, flags, out);
  EXPECT_NE(out.str().find("/export/sequence_autoencoder/"), std::string::npos) << out.str();
  EvalModel({.model_dir = flags.model_dir, .json = true}, eval);
  EXPECT_GE(Json::parse(eval.str()).at("metrics").at("accuracy").get<double>(), 0.99) << eval.str();
  flags.model_dir = directory.path() + "/other";
  flags.data = directory.path();
  EXPECT_NE(MessageOf([&] { TrainModel(model, params, flags, out); }).find("makes its own data"),
            std::string::npos);
}

TEST(TrainTest, TrainsOnSeveralDevices) {
  const CensusRun run("TrainsOnSeveralDevices");
  const models::RegisteredModel& model = models::FindModel("wide_deep");
  HParams params = models::DefaultParams(model);
  params.Parse("train_steps=5,train_batch_size=20,eval_steps=2,eval_batch_size=20,num_layers=1");
  TrainFlags flags = run.flags();
  flags.devices = 2;
  std::ostringstream out;
  TrainModel(model, params, flags, out);
  EXPECT_NE(out.str().find("is at step 5."), std::string::npos) << out.str();
  flags.devices = 3;
  flags.model_dir += "3";
  EXPECT_EQ(MessageOf([&] { TrainModel(model, params, flags, out); }),
            "train_batch_size 20 is no multiple of the 3 devices; try 18");
}

TEST(TrainTest, TakesFlagsOfModels) {
  const CensusRun run("TakesFlagsOfModels");
  const std::string config = run.Write(
      "config.json", R"({"train_batch_size": 20, "hidden_units": [8, 4], "eval_steps": 1})");
  Command program("sextant", "");
  AddTrainCommand(program);
  testing::internal::CaptureStdout();
  EXPECT_EQ(RunProgram(program, {"train", "wide_deep", "--model_dir", run.model_dir(), "--data",
                                 run.data(), "--train-steps=3", "--config", config, "--batch_norm",
                                 "true", "--verbosity", "warn", "--export_format", "CSV"}),
            0);
  EXPECT_NE(testing::internal::GetCapturedStdout().find("is at step 3."), std::string::npos);
  const TrainedModel trained = ReadTrainedModel(run.model_dir());
  EXPECT_EQ(trained.params.Get<std::vector<int64_t>>("hidden_units"), (std::vector<int64_t>{8, 4}));
  EXPECT_TRUE(trained.params.Get<bool>("batch_norm"));
}

TEST(TrainProgressTest, SaysWhatIsKnown) {
  EXPECT_EQ(TrainProgressLine(320, 1000, 12.375, 1030, 40),
            "step 320 of 1000, loss 12.38, 41200 examples/s, 0:01 left");
  EXPECT_EQ(TrainProgressLine(10, 80000, 2.5, 2, 128),
            "step 10 of 80000, loss 2.5, 256 examples/s, 11:06:35 left");
  EXPECT_EQ(TrainProgressLine(7, 0, std::nan(""), 0, 40), "step 7");
}

}  // namespace
}  // namespace sextant::cli

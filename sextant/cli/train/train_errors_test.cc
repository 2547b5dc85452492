// What goes wrong in a training, and what the program says: one sentence with the thing and the
// remedy.
#include <gtest/gtest.h>

#include <sstream>

#include "sextant/base/error.h"
#include "sextant/base/faulty_file_system.h"
#include "sextant/base/file_system.h"
#include "sextant/base/memory_file_system.h"
#include "sextant/cli/train/census_run.h"
#include "sextant/cli/train/predict.h"
#include "sextant/cli/train/trained_model.h"
#include "sextant/estimator/canned.h"
#include "sextant/estimator/model_dir_lock.h"

namespace sextant::cli {
namespace {

void ExpectHas(const std::string& message, const std::string& part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

// Trains the linear model with other flags.
std::string MessageOfTraining(const CensusRun& run,
                              const std::function<void(TrainFlags&, HParams&)>& change) {
  const models::RegisteredModel& model = models::FindModel("linear");
  HParams params = models::DefaultParams(model);
  params.Parse("train_steps=20,train_batch_size=20,eval_steps=2");
  TrainFlags flags = run.flags();
  change(flags, params);
  std::ostringstream out;
  return MessageOf([&] { TrainModel(model, params, flags, out); });
}

TEST(TrainErrorsTest, MissingFile) {
  const CensusRun run("MissingFile");
  const std::string folder = MessageOfTraining(
      run, [&](TrainFlags& flags, HParams&) { flags.data = run.directory() + "/nothing"; });
  ExpectHas(folder, run.directory() + "/nothing");
  ExpectHas(folder, "sextant data census");
  ExpectHas(MessageOfTraining(run,
                              [&](TrainFlags& flags, HParams&) {
                                flags.train_files = {run.directory() + "/absent.csv"};
                              }),
            "absent.csv");
}

TEST(TrainErrorsTest, EmptyData) {
  const CensusRun run("EmptyData");
  const std::string empty = run.Write("empty.csv", "");
  ExpectHas(
      MessageOfTraining(run, [&](TrainFlags& flags, HParams&) { flags.train_files = {empty}; }),
      "is the data empty?");
}

TEST(TrainErrorsTest, LabelOutOfRange) {
  const CensusRun run("LabelOutOfRange");
  const std::string rows = run.Write("rows.csv",
                                     "25, Private, 1, 11th, 7, Never-married, Sales, Own-child, "
                                     "Black, Male, 0, 0, 40, Peru, >60K\n");
  ExpectHas(
      MessageOfTraining(run, [&](TrainFlags& flags, HParams&) { flags.train_files = {rows}; }),
      "label ' >60K' in column income_bracket is neither ' <=50K' nor ' >50K'");
}

TEST(TrainErrorsTest, WrongColumnType) {
  const CensusRun run("WrongColumnType");
  const std::string rows = run.Write("rows.csv",
                                     "old, Private, 1, 11th, 7, Never-married, Sales, Own-child, "
                                     "Black, Male, 0, 0, 40, Peru, >50K\n");
  const std::string message =
      MessageOfTraining(run, [&](TrainFlags& flags, HParams&) { flags.train_files = {rows}; });
  ExpectHas(message, "rows.csv");
  ExpectHas(message, "old");
}

TEST(TrainErrorsTest, LossThatIsNotANumber) {
  const CensusRun run("LossThatIsNotANumber");
  const std::string message = MessageOf(
      [&] { run.Train("wide_deep", "dnn_optimizer=SGD,dnn_learning_rate=1e30,train_steps=50"); });
  ExpectHas(message, "is not a number");
}

TEST(TrainErrorsTest, UnknownColumn) {
  const CensusRun run("UnknownColumn");
  run.Train("linear");
  const std::string json = run.Write("x.json", R"({"aged": 3})");
  std::ostringstream out;
  const std::string message =
      MessageOf([&] { Predict({.model = run.model_dir(), .files = {json}}, out); });
  ExpectHas(message,
            "x.json, line 1: byte 7: the instance: the signature has no input 'aged'; it "
            "takes: age, capital_gain");
}

TEST(TrainErrorsTest, VocabularyFileGone) {
  const CensusRun run("VocabularyFileGone");
  const std::string words = run.directory() + "/words.txt";
  const std::string message = MessageOf([&] {
    Estimator estimator =
        LinearClassifier({.feature_columns = {columns::VocabularyFile("race", words)}},
                         {.model_dir = run.model_dir()});
    const models::RegisteredModel& model = models::FindModel("linear");
    const HParams params = models::DefaultParams(model);
    estimator.Train([&] { return model.train_input(params, {.folder = run.data()}); },
                    {.max_steps = 1});
  });
  ExpectHas(message, words);
}

TEST(TrainErrorsTest, AFailedStartBindsNobody) {
  const CensusRun run("AFailedStartBindsNobody");
  const std::string rows = run.data() + "/adult.data.csv", aside = run.data() + "/aside.csv";
  FileSystem& files = FileSystem::ForPath(rows);
  files.Rename(rows, aside);
  ExpectHas(MessageOf([&] { run.Train("linear"); }), rows + ": no such file");
  files.Rename(aside, rows);
  EXPECT_EQ(MessageOf([&] { run.Train("dnn"); }), "");
  EXPECT_EQ(ReadTrainedModel(run.model_dir()).model->name, "dnn");
}

TEST(TrainErrorsTest, CheckpointOfAnotherModel) {
  const CensusRun run("CheckpointOfAnotherModel");
  run.Train("linear");
  ExpectHas(MessageOf([&] { run.Train("dnn"); }),
            run.model_dir() + " holds model 'linear', not 'dnn'; choose another --model_dir");
  const CensusRun other("CheckpointOfAnotherModel2");
  other.Train("dnn", "hidden_units=[8]");
  const std::string message =
      MessageOf([&] { other.Train("dnn", "hidden_units=[16],train_steps=30"); });
  ExpectHas(message, "dnn/hiddenlayer_0/bias");
  ExpectHas(message, "model.ckpt-20");
}

// What a model_dir says of itself stays true of its checkpoints.
TEST(TrainErrorsTest, ARefusedTrainingLeavesTheNote) {
  const CensusRun run("ARefusedTrainingLeavesTheNote");
  run.Train("dnn", "hidden_units=[8]");
  const auto noted = [&] { return ReadTrainedModel(run.model_dir()).params.ToJson(); };
  const std::string before = noted();
  {
    const ModelDirLock busy(run.model_dir());
    ExpectHas(MessageOf([&] { run.Train("dnn", "hidden_units=[16],train_steps=30"); }),
              "is being trained by this process already");
  }
  EXPECT_EQ(noted(), before);
  ExpectHas(MessageOf([&] { run.Train("dnn", "hidden_units=[16],train_steps=30"); }),
            "dnn/hiddenlayer_0/bias");
  EXPECT_EQ(noted(), before);
  std::ostringstream out;
  EXPECT_EQ(MessageOf([&] { EvalModel({.model_dir = run.model_dir(), .data = run.data()}, out); }),
            "");
  run.Train("dnn", "hidden_units=[8],train_steps=30");
  EXPECT_EQ(ReadTrainedModel(run.model_dir()).params.Get<int64_t>("train_steps"), 30);
}

TEST(TrainErrorsTest, DamagedNote) {
  const CensusRun run("DamagedNote");
  run.Train("linear");
  run.Write("model/sextant_model.json", "{");
  const std::string training = MessageOf([&] { run.Train("linear"); });
  ExpectHas(training, "sextant_model.json does not say which model this is; delete it to go on");
  EXPECT_EQ(training.find("--model_name"), std::string::npos) << training;
  ExpectHas(MessageOf([&] { ReadTrainedModel(run.model_dir()); }), "name it with --model_name");
}

TEST(TrainErrorsTest, ReadOnlyModelDir) {
  static MemoryFileSystem memory;
  FileSystem::Register(
      "readonly",
      std::make_unique<FaultyFileSystem>(
          memory, FaultyFileSystem::Faults{
                      .before = [](FaultyFileSystem::Operation operation, const std::string& path) {
                        using Op = FaultyFileSystem::Operation;
                        if (operation == Op::kCreateDirectories || operation == Op::kNewWriter) {
                          throw Error(Code::kPermissionDenied, path + ": Permission denied");
                        }
                      }}));
  const CensusRun run("ReadOnlyModelDir");
  ExpectHas(MessageOfTraining(
                run, [](TrainFlags& flags, HParams&) { flags.model_dir = "readonly://runs/a"; }),
            "readonly://runs/a");
}

TEST(TrainErrorsTest, FullDisk) {
  static MemoryFileSystem memory;
  FileSystem::Register(
      "full",
      std::make_unique<FaultyFileSystem>(
          memory, FaultyFileSystem::Faults{
                      .before = [](FaultyFileSystem::Operation operation, const std::string& path) {
                        if (operation == FaultyFileSystem::Operation::kAppend &&
                            path.find("model.ckpt") != std::string::npos) {
                          throw ResourceExhausted("{}: No space left on device", path);
                        }
                      }}));
  const CensusRun run("FullDisk");
  const std::string message = MessageOfTraining(
      run, [](TrainFlags& flags, HParams&) { flags.model_dir = "full://runs/a"; });
  ExpectHas(message, "full://runs/a/model.ckpt");
  ExpectHas(message, "No space left on device");
}

TEST(TrainErrorsTest, FlagsThatDoNotFit) {
  const CensusRun run("FlagsThatDoNotFit");
  ExpectHas(MessageOfTraining(run, [](TrainFlags& flags, HParams&) { flags.export_format = "x"; }),
            "model linear has no receiver 'x'; there are json, csv, example, raw");
  ExpectHas(MessageOfTraining(run, [](TrainFlags&, HParams& p) { p.Parse("eval_batch_size=0"); }),
            "eval_batch_size must be at least 1");
  ExpectHas(MessageOf([&] { ReadTrainedModel(run.directory() + "/nothing"); }),
            "there is no model_dir");
  ExpectHas(MessageOf([&] { ReadTrainedModel(run.data()); }),
            "holds no checkpoint; train a model there first");
}

}  // namespace
}  // namespace sextant::cli

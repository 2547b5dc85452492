#include "sextant/estimator/ledger.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sextant/base/temporary_directory.h"
#include "sextant/testing/status_of.h"

namespace sextant {
namespace {

std::vector<int64_t> StepsOf(const Ledger& ledger) {
  std::vector<int64_t> steps;
  for (const auto& evaluation : ledger.evaluations()) steps.push_back(evaluation.step);
  return steps;
}

Ledger::Evaluation EvaluationOf(int64_t step, double loss, double time = 1) {
  return {.name = "", .step = step, .time = time, .metrics = {{"loss", loss}}};
}

TEST(LedgerTest, WritersLoseNothingOfEachOther) {
  const TemporaryDirectory dir;
  Ledger chief(dir.path());
  Ledger evaluator(dir.path(), "evaluator_0");
  evaluator.AddEvaluation(EvaluationOf(20, 2));
  chief.SetNote("begun", "yes");  // both hold a state from before the other's change
  chief.AddEvaluation(EvaluationOf(10, 1));
  evaluator.AddExport({"latest", 20, "export/latest/1"});
  chief.SetDone(30);

  const Ledger reader(dir.path());
  EXPECT_EQ(StepsOf(reader), (std::vector<int64_t>{10, 20}));
  EXPECT_NE(reader.FindExport("latest", 20), nullptr);
  EXPECT_EQ(reader.Note("begun"), "yes");
  EXPECT_EQ(reader.done(), 30);
  evaluator.Refresh();
  EXPECT_EQ(StepsOf(evaluator), (std::vector<int64_t>{10, 20}));
  EXPECT_EQ(evaluator.done(), 30);
  EXPECT_EQ(Ledger(dir.path(), "evaluator_0").FindEvaluation("", 20)->metrics.at("loss"), 2);
}

TEST(LedgerTest, ReadsTheOneFileOfEarlierVersions) {
  const TemporaryDirectory dir;
  std::ofstream(dir.path() + "/sextant_ledger.json")
      << R"({"version": 1, "evaluations": [{"name": "", "step": 5, "time": 1.5,
             "metrics": {"loss": 0.25}}], "exports": [{"exporter": "best", "step": 5,
             "path": "export/best/7"}], "notes": {"best/best": "{}"}, "done": null})";
  for (const char* writer : {"", "evaluator_0"}) {
    const Ledger ledger(dir.path(), writer);
    EXPECT_EQ(ledger.FindEvaluation("", 5)->metrics.at("loss"), 0.25);
    EXPECT_EQ(ledger.FindExport("best", 5)->path, "export/best/7");
    EXPECT_EQ(ledger.Note("best/best"), "{}");
    EXPECT_FALSE(ledger.done());
  }
}

TEST(LedgerTest, ATrainingThatWentBackForgetsWhatEvaluatorsSaidOfLaterSteps) {
  const TemporaryDirectory dir;
  Ledger evaluator(dir.path(), "evaluator_0");
  evaluator.AddEvaluation(EvaluationOf(10, 1));
  evaluator.AddEvaluation(EvaluationOf(20, 2));
  Ledger chief(dir.path());
  chief.ForgetAfter(10);
  EXPECT_EQ(StepsOf(chief), (std::vector<int64_t>{10}));
  evaluator.Refresh();
  EXPECT_EQ(StepsOf(evaluator), (std::vector<int64_t>{10}));
  // Of the new step 20, later than the return.
  evaluator.AddEvaluation(EvaluationOf(20, 3, /*time=*/1e12));
  EXPECT_EQ(StepsOf(evaluator), (std::vector<int64_t>{10, 20}));
  EXPECT_EQ(Ledger(dir.path()).FindEvaluation("", 20)->metrics.at("loss"), 3);
}

TEST(LedgerTest, AClockThatWasSetBackHidesNoNewEvaluation) {
  const TemporaryDirectory dir;
  Ledger evaluator(dir.path(), "evaluator_0");
  evaluator.AddEvaluation(EvaluationOf(20, 2, /*time=*/1e12));
  evaluator.AddExport({.exporter = "latest", .step = 20, .path = "export/latest/1", .time = 1e12});
  Ledger chief(dir.path());
  chief.ForgetAfter(10);
  EXPECT_EQ(StepsOf(chief), (std::vector<int64_t>{}));
  EXPECT_EQ(chief.FindExport("latest", 20), nullptr);
  // Made of the old checkpoint 25, by one that has not read of the return.
  evaluator.AddEvaluation(EvaluationOf(25, 9, /*time=*/1e12));
  EXPECT_EQ(StepsOf(Ledger(dir.path())), (std::vector<int64_t>{}));
  evaluator.Refresh();
  evaluator.AddEvaluation(EvaluationOf(20, 3, /*time=*/1));
  evaluator.AddExport({.exporter = "latest", .step = 20, .path = "export/latest/2", .time = 1});
  EXPECT_EQ(StepsOf(evaluator), (std::vector<int64_t>{20}));
  EXPECT_EQ(Ledger(dir.path()).FindEvaluation("", 20)->metrics.at("loss"), 3);
  EXPECT_EQ(Ledger(dir.path()).FindExport("latest", 20)->path, "export/latest/2");

  chief.Refresh();
  chief.ForgetAfter(5);  // replaces the first return, and is a later one
  EXPECT_EQ(StepsOf(Ledger(dir.path(), "evaluator_0")), (std::vector<int64_t>{}));
  evaluator.Refresh();
  evaluator.AddEvaluation(EvaluationOf(10, 4, /*time=*/1));
  EXPECT_EQ(StepsOf(Ledger(dir.path())), (std::vector<int64_t>{10}));
}

TEST(LedgerTest, LedgersWithoutNumbersOfReturnsGoByTime) {
  const TemporaryDirectory dir;
  std::ofstream(dir.path() + "/sextant_ledger.json")
      << R"({"version": 1, "evaluations": [], "exports": [], "notes": {}, "done": null,
             "forgotten": [{"step": 10, "time": 100}]})";
  std::ofstream(dir.path() + "/sextant_ledger.evaluator_0.json")
      << R"({"version": 1, "evaluations": [
               {"name": "", "step": 10, "time": 50, "metrics": {}},
               {"name": "", "step": 20, "time": 60, "metrics": {}},
               {"name": "", "step": 30, "time": 110, "metrics": {}}],
             "exports": [], "notes": {}, "done": null})";
  EXPECT_EQ(StepsOf(Ledger(dir.path())), (std::vector<int64_t>{10, 30}));
}

TEST(LedgerTest, NotesOfAllWriters) {
  const TemporaryDirectory dir;
  Ledger(dir.path()).SetNote("best", "a");
  Ledger(dir.path(), "evaluator_1").SetNote("best", "b");
  EXPECT_EQ(Ledger(dir.path(), "evaluator_1").Note("best"), "b");
  EXPECT_EQ(Ledger(dir.path(), "evaluator_0").Note("best"), "a");
  EXPECT_EQ(Ledger(dir.path()).Notes("best"),
            (std::map<std::string, std::string>{{"", "a"}, {"evaluator_1", "b"}}));
}

TEST(LedgerTest, TellsThatAnotherFileWasWritten) {
  const TemporaryDirectory dir;
  const std::string before = Ledger::FilesText(dir.path());
  Ledger(dir.path(), "evaluator_0").AddEvaluation(EvaluationOf(1, 1));
  EXPECT_NE(Ledger::FilesText(dir.path()), before);
}

TEST(LedgerTest, NamesTheFileThatCannotBeRead) {
  const TemporaryDirectory dir;
  std::ofstream(dir.path() + "/sextant_ledger.evaluator_0.json") << "{";
  const Status status = StatusOf([&] { Ledger ledger(dir.path()); });
  EXPECT_EQ(status.code(), Code::kDataLoss);
  EXPECT_NE(status.message().find("sextant_ledger.evaluator_0.json"), std::string::npos);
}

}  // namespace
}  // namespace sextant

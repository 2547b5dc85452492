#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <limits>
#include <mutex>
#include <set>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/exporter.h"
#include "sextant/estimator/ledger.h"
#include "sextant/nn/losses.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizers.h"

namespace sextant {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

EstimatorSpec Scaled(const ModelFnArgs& args) {
  const Variable w = GetVariable("w", [] { return Const(Tensor(0.0f)); });
  const Output y = w * args.features["x"];
  EstimatorSpec spec{.mode = args.mode, .predictions = {{"y", y}}};
  if (args.mode == Mode::kPredict) return spec;
  spec.loss = losses::MeanSquaredError(args.labels.only(), y);
  spec.train_op = train::GradientDescent({.learning_rate = 0.25})
                      .Minimize(spec.loss, {.global_step = train::GetOrCreateGlobalStep()});
  return spec;
}

ServingInputFn OneInput() { return RawReceiver({{"x", DType::kFloat, PartialShape({-1})}}); }

class ExportersTest : public testing::Test {
 protected:
  ExportersTest()
      : dir_(testing::TempDir() + "exporters_test_" + std::to_string(getpid())), estimator_([&] {
          std::filesystem::remove_all(dir_);
          return Estimator(Scaled, {.model_dir = dir_, .tf_config = "{}"});
        }()) {
    estimator_.Train(
        [] {
          return data::FromTensors(
              {{"x", Tensor::Of<float>({1})}, {"label", Tensor::Of<float>({2})}});
        },
        {.steps = 1});
  }
  ~ExportersTest() override { std::filesystem::remove_all(dir_); }
  // The path of the export of an evaluation, made by a process of its own; "" when there was none.
  std::string Export(Exporter& exporter, const EvalResult& result, int64_t step) {
    Ledger ledger(dir_);
    return exporter.Export({estimator_, dir_ + "/export/" + exporter.name(),
                            *estimator_.LatestCheckpoint(), result, step, false, ledger});
  }
  static int64_t NumberOf(const std::string& path) {
    return std::stoll(std::string(BaseName(path)));
  }
  const std::string dir_;
  Estimator estimator_;
};

TEST_F(ExportersTest, NaNIsNeverBest) {
  const auto best = BestExporter("best", OneInput());
  EXPECT_EQ(Export(*best, {{"loss", kNaN}, {"auc", 1}}, 10), "");
  EXPECT_NE(Export(*best, {{"loss", 3}, {"auc", kNaN}}, 20), "");  // another metric does not count
  EXPECT_EQ(Export(*best, {{"loss", kNaN}, {"auc", 1}}, 30), "");
  EXPECT_EQ(Export(*best, {{"loss", 4}, {"auc", 1}}, 40), "");
  EXPECT_EQ(Export(*best, {{"loss", kInfinity}, {"auc", 1}}, 45), "");
  EXPECT_NE(Export(*best, {{"loss", 2}, {"auc", 1}}, 50), "");
}

TEST_F(ExportersTest, AnInfiniteBestIsBeaten) {
  const auto best = BestExporter("best", OneInput(), Larger("auc"));
  EXPECT_NE(Export(*best, {{"auc", -kInfinity}}, 10), "");
  EXPECT_NE(Export(*best, {{"auc", 0.5}}, 20), "");
  EXPECT_EQ(Export(*best, {{"auc", 0.4}}, 30), "");
}

// Earlier versions wrote null for NaN, and threw when they read it.
TEST_F(ExportersTest, ALedgerWithNullGoesOn) {
  Ledger(dir_).SetNote("best/best", R"({"global_step":10.0,"loss":null})");
  const auto best = BestExporter("best", OneInput());
  EXPECT_NE(Export(*best, {{"loss", 5}}, 20), "");
  EXPECT_EQ(Export(*best, {{"loss", 6}}, 30), "");
}

TEST_F(ExportersTest, MetricsAreReadBack) {
  Ledger(dir_).AddEvaluation(
      {"", 10, 0, {{"a", kNaN}, {"b", kInfinity}, {"c", -kInfinity}, {"d", 0.1}}});
  const auto metrics = Ledger(dir_).evaluations().at(0).metrics;
  EXPECT_TRUE(std::isnan(metrics.at("a")));
  EXPECT_EQ(metrics.at("b"), kInfinity);
  EXPECT_EQ(metrics.at("c"), -kInfinity);
  EXPECT_EQ(metrics.at("d"), 0.1);
}

TEST_F(ExportersTest, EveryExportHasTheLargestNumber) {
  const std::string base = dir_ + "/export/latest";
  const int64_t first = NumberOf(estimator_.ExportSavedModel(base, OneInput()));
  EXPECT_EQ(NumberOf(estimator_.ExportSavedModel(base, OneInput())), first + 1);
  // One made while the clock was ahead, one that another process is writing, and other things.
  for (const char* name : {"9000000000", "temp-9000000005-77", "note", "99999999999999999999"}) {
    std::filesystem::create_directories(base + "/" + name);
  }
  EXPECT_EQ(NumberOf(estimator_.ExportSavedModel(base, OneInput())), 9000000006);
  const auto latest = LatestExporter("latest", OneInput());
  EXPECT_EQ(NumberOf(Export(*latest, {}, 1)), 9000000007);
}

// A process was killed after it had noted its export, and another one exported meanwhile.
TEST_F(ExportersTest, AnExportThatWasNotedIsMadeAgainWithTheLargestNumber) {
  const auto latest = LatestExporter("latest", OneInput());
  Ledger(dir_).AddExport({"latest", 5, "export/latest/1000"});
  std::filesystem::create_directories(dir_ + "/export/latest/999");
  EXPECT_EQ(NumberOf(Export(*latest, {}, 5)), 1000);
  Ledger(dir_).AddExport({"latest", 6, "export/latest/1001"});
  std::filesystem::create_directories(dir_ + "/export/latest/9000000000");
  EXPECT_EQ(NumberOf(Export(*latest, {}, 6)), 9000000001);
}

TEST_F(ExportersTest, ProcessesThatExportAtOnceTakeDifferentNumbers) {
  const std::string base = dir_ + "/export/together";
  std::set<std::string> made;
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      Estimator mine(Scaled, {.model_dir = dir_, .tf_config = "{}"});
      const std::string path = mine.ExportSavedModel(base, OneInput());
      const std::lock_guard lock(mutex);
      made.insert(path);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(made.size(), 4u);
  EXPECT_EQ(FileSystem::ForPath(base).ListDirectory(base).size(), 4u);  // no temporaries are left
}

}  // namespace
}  // namespace sextant

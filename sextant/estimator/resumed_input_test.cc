#include "sextant/estimator/resumed_input.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "sextant/base/error.h"
#include "sextant/base/file_system.h"
#include "sextant/data/sources.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/train_and_evaluate.h"
#include "sextant/nn/losses.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizers.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

constexpr const char* kNoBatch = "the training input gave no batch; is the data empty?";

EstimatorSpec Slope(const ModelFnArgs& args) {
  const Variable w = GetVariable("w", [] { return Const(Tensor(0.0f)); });
  const Output y = w * args.features["x"];
  EstimatorSpec spec{.mode = args.mode, .predictions = {{"y", y}}};
  spec.loss = losses::MeanSquaredError(args.labels.only(), y);
  if (args.mode == Mode::kTrain) {
    spec.train_op = train::GradientDescent({.learning_rate = 0.25})
                        .Minimize(spec.loss, {.global_step = train::GetOrCreateGlobalStep()});
  }
  return spec;
}

class CountSessions : public train::Hook {
 public:
  void AfterCreateSession(Session&) override { ++count; }
  int count = 0;
};

class ResumedInputTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    dir_ = testing::TempDir() + "resumed_input_" + info->name() + std::to_string(getpid());
    fs::remove_all(dir_);
    fs::create_directories(dir_ + "/folder");
    for (const char* name : {"/rows.csv", "/eval.csv"})
      std::ofstream(dir_ + name) << "1,2\n1,2\n1,2\n1,2\n";
    std::ofstream(dir_ + "/empty.csv") << "\n";
    std::ofstream(dir_ + "/bad.csv") << "1,two\n";
  }
  void TearDown() override { fs::remove_all(dir_); }

  // Batches of one row, to the end of the file.
  InputFn From(const std::string& file) const {
    return [path = dir_ + "/" + file] {
      const data::CsvFileOptions options{
          .columns = {{"x", DType::kFloat}, {"label", DType::kFloat}}};
      return Input(data::Csv({path}, options).Batch(1).Prefetch());
    };
  }
  Estimator Make() const {
    return Estimator(
        Slope, {.model_dir = dir_ + "/model", .save_checkpoints_steps = 2, .tf_config = "{}"});
  }
  int64_t TrainAndEvaluateOn(const InputFn& input) {
    return TrainAndEvaluate(Make(), {.input_fn = input, .max_steps = 10, .hooks = {sessions_}},
                            {.input_fn = From("eval.csv"), .throttle_secs = 0})
        .global_step;
  }
  int64_t TrainOn(const InputFn& input) {
    return Make().Train(input, {.max_steps = 10, .hooks = {sessions_}});
  }
  std::map<std::string, std::string> Contents() const {
    std::map<std::string, std::string> contents;
    for (const auto& entry : fs::recursive_directory_iterator(dir_ + "/model")) {
      const std::string path = entry.path().string();
      contents[path] =
          entry.is_regular_file() ? FileSystem::ForPath(path).ReadFile(path) : std::string();
    }
    return contents;
  }
  // Neither way of training changes anything, nor gets as far as the hooks of users.
  void ExpectRefused(const std::string& file, Code code, const std::string& text) {
    const auto before = Contents();
    const int sessions = sessions_->count;
    for (const bool evaluates : {true, false}) {
      const Status status = StatusOf(
          [&] { return evaluates ? TrainAndEvaluateOn(From(file)) : TrainOn(From(file)); });
      EXPECT_EQ(status.code(), code) << file << ", " << evaluates;
      EXPECT_NE(status.message().find(text), std::string::npos) << status.message();
      EXPECT_TRUE(Contents() == before) << file << ", " << evaluates;
      EXPECT_EQ(sessions_->count, sessions);
    }
  }

  const std::shared_ptr<CountSessions> sessions_ = std::make_shared<CountSessions>();
  std::string dir_;
};

TEST_F(ResumedInputTest, WhatCannotBeReadChangesNothing) {
  TrainAndEvaluate(Make(), {.input_fn = From("rows.csv"), .max_steps = 2},
                   {.input_fn = From("eval.csv"), .throttle_secs = 0});
  ExpectRefused("absent.csv", Code::kNotFound, dir_ + "/absent.csv");
  ExpectRefused("folder", Code::kFailedPrecondition, dir_ + "/folder");
  ExpectRefused("bad.csv", Code::kInvalidArgument, dir_ + "/bad.csv: line 1, column 'label'");
  ExpectRefused("empty.csv", Code::kInvalidArgument, kNoBatch);
}

TEST_F(ResumedInputTest, DataThatWasReadToItsEndIsNoError) {
  EXPECT_EQ(TrainAndEvaluateOn(From("rows.csv")), 4);
  EXPECT_EQ(TrainAndEvaluateOn(From("rows.csv")), 4);
  EXPECT_EQ(TrainOn(From("rows.csv")), 8);  // reads it again
  EXPECT_EQ(TrainAndEvaluateOn(From("rows.csv")), 8);
  EXPECT_EQ(sessions_->count, 4);
  // Nothing is left, whatever is there now in place of what was read; but something must be.
  fs::copy_file(dir_ + "/bad.csv", dir_ + "/rows.csv", fs::copy_options::overwrite_existing);
  EXPECT_EQ(TrainAndEvaluateOn(From("rows.csv")), 8);
  fs::resize_file(dir_ + "/rows.csv", 0);
  ExpectRefused("rows.csv", Code::kInvalidArgument, kNoBatch);
}

}  // namespace
}  // namespace sextant

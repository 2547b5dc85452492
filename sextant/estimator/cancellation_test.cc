// Trainings that the program cancels, whatever they wait for.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/data/sources.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/train_and_evaluate.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/nn/losses.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/state/variable.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/global_step.h"
#include "sextant/train/optimizers.h"

namespace sextant {
namespace {

EstimatorSpec Factor(const ModelFnArgs& args) {
  const Variable w = GetVariable("w", [] { return Const(Tensor(0.0f)); });
  EstimatorSpec spec{.mode = args.mode};
  spec.loss = losses::MeanSquaredError(args.labels.only(), w * args.features["x"]);
  if (args.mode == Mode::kTrain) {
    spec.train_op = train::GradientDescent({.learning_rate = 0.25})
                        .Minimize(spec.loss, {.global_step = train::GetOrCreateGlobalStep()});
  }
  return spec;
}

data::Element OneTwo() {
  return {{"x", Tensor::Of<float>({1})}, {"label", Tensor::Of<float>({2})}};
}

// Cancels when the global step is reached, from another thread.
class CancelAtStep : public train::Hook {
 public:
  CancelAtStep(std::shared_ptr<CancellationToken> token, int64_t step)
      : token_(std::move(token)), step_(step) {}
  ~CancelAtStep() override {
    if (thread_.joinable()) thread_.join();
  }
  void AfterRun(train::RunContext& run) override {
    if (run.global_step() != step_ || thread_.joinable()) return;
    thread_ = std::thread([this] { token_->Cancel(Status(Code::kCancelled, "enough")); });
  }

 private:
  const std::shared_ptr<CancellationToken> token_;
  const int64_t step_;
  std::thread thread_;
};

class CancellationTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    dir_ = testing::TempDir() + "cancellation_" + info->name() + std::to_string(getpid());
    std::filesystem::remove_all(dir_);
    std::filesystem::create_directories(dir_);
    pipe_ = dir_ + "/pipe";
    ASSERT_EQ(mkfifo(pipe_.c_str(), 0600), 0);
  }
  void TearDown() override { std::filesystem::remove_all(dir_); }
  std::string model_dir() const { return dir_ + "/model"; }
  Estimator Make() const {
    return Estimator(Factor, {.model_dir = model_dir(), .cancellation = token_, .tf_config = "{}"});
  }
  Input FromPipe() const {
    return data::TextLines({pipe_}).Map(
        [](const data::Element&) { return OneTwo(); },
        {.spec = data::ElementSpec{{"x", DType::kFloat, Shape({1})},
                                   {"label", DType::kFloat, Shape({1})}}});
  }
  const std::shared_ptr<CancellationToken> token_ = std::make_shared<CancellationToken>();
  std::string dir_, pipe_;
};

TEST_F(CancellationTest, APipeThatDeliversNothingMore) {
  signal(SIGPIPE, SIG_IGN);
  std::thread writer([&] {
    std::ofstream out(pipe_);
    // Files are read by 256 kB: 32 lines, and then nothing.
    for (int i = 0; i < 40; ++i) out << std::string(8191, 'x') << std::endl;
    while (!token_->cancelled()) std::this_thread::yield();
  });
  const auto cancel = std::make_shared<CancelAtStep>(token_, 5);
  const Status status =
      StatusOf([&] { Make().Train([&] { return FromPipe(); }, {.hooks = {cancel}}); });
  writer.join();
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_TRUE(status.message().starts_with("enough at step ")) << status.message();
  const auto newest = LatestCheckpoint(model_dir());
  ASSERT_TRUE(newest.has_value());
  EXPECT_NE(status.message().find("saved " + *newest + "; run"), std::string::npos)
      << status.message();
  EXPECT_GE(std::stoll(newest->substr(newest->rfind('-') + 1)), 5);
}

TEST_F(CancellationTest, APipeThatNobodyWritesTo) {
  std::thread other([&] { token_->Cancel(Status(Code::kCancelled, "enough")); });
  const Status status = StatusOf([&] { Make().Train([&] { return FromPipe(); }); });
  other.join();
  EXPECT_EQ(status.code(), Code::kCancelled);
}

TEST_F(CancellationTest, ABatchThatIsNeverFull) {
  // Five elements, then a search without end.
  const auto input = [this] {
    return Input(data::FromTensors(OneTwo()).Repeat(5).Concatenate(
        data::FromTensors(OneTwo()).Repeat().Filter(
            [token = token_, count = std::make_shared<std::atomic<int>>(0)](const data::Element&) {
              if (++*count == 1000) token->Cancel(Status(Code::kCancelled, "enough"));
              return false;
            })));
  };
  const Status status = StatusOf([&] { Make().Train(input); });
  EXPECT_EQ(status.code(), Code::kCancelled);
  const auto newest = LatestCheckpoint(model_dir());
  ASSERT_TRUE(newest.has_value());
  EXPECT_NE(status.message().find("saved " + *newest), std::string::npos) << status.message();
}

TEST_F(CancellationTest, AnEvaluationIsCancelledAndMadeAgain) {
  const auto train = [] { return Input(data::FromTensors(OneTwo()).Repeat()); };
  const auto endless = train;
  const Estimator estimator(Factor, {.model_dir = model_dir(),
                                     .save_checkpoints_steps = 4,
                                     .cancellation = token_,
                                     .tf_config = "{}"});
  const Status status = StatusOf([&] {
    TrainAndEvaluate(
        estimator, {.input_fn = train, .max_steps = 8},
        {.input_fn = endless, .steps = {}, .hooks = {std::make_shared<CancelAtStep>(token_, 4)}});
  });
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_EQ(status.message(), "enough at step 4: saved " + model_dir() +
                                  "/model.ckpt-4; run the same training again to go on from there");
  const Estimator again(Factor,
                        {.model_dir = model_dir(), .save_checkpoints_steps = 4, .tf_config = "{}"});
  const auto result = TrainAndEvaluate(again, {.input_fn = train, .max_steps = 8},
                                       {.input_fn = endless, .steps = 2, .throttle_secs = 0});
  EXPECT_EQ(result.global_step, 8);
}

}  // namespace
}  // namespace sextant

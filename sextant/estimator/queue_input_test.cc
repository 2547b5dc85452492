// Input made of queues, as in TensorFlow 1: their threads run as long as they are needed, what they
// fail with is the error of the training, and waiting for them can be cancelled.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "sextant/base/error.h"
#include "sextant/estimator/train_and_evaluate.h"
#include "sextant/formats/checkpoint_state.h"
#include "sextant/nn/losses.h"
#include "sextant/ops/array/const_fill.h"
#include "sextant/ops/files/file.h"
#include "sextant/ops/math/binary.h"
#include "sextant/ops/queue/queue.h"
#include "sextant/ops/state/variable.h"
#include "sextant/ops/string/string_to_number.h"
#include "sextant/testing/status_of.h"
#include "sextant/train/global_step.h"
#include "sextant/train/input.h"
#include "sextant/train/optimizers.h"

namespace sextant {
namespace {

namespace fs = std::filesystem;

// w * x, with w from 2, for labels 2 x: nothing is left to learn.
EstimatorSpec Twice(const ModelFnArgs& args) {
  const Variable w = GetVariable("w", [] { return Const(Tensor(2.0f)); });
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

Input::Tensors WithLabels(Output x, float slope) {
  Input::Tensors tensors;
  tensors.first.Set("x", x);
  tensors.second.Set("label", x * slope);
  return tensors;
}

// The numbers 1 to 4, by twos, so often.
Input Numbers(int64_t epochs, float slope = 2) {
  return Input([=] {
    const Output queue = train::InputProducer(Const(Tensor::Of<float>({1, 2, 3, 4})),
                                              {.num_epochs = epochs, .shuffle = false});
    return WithLabels(train::Batch({QueueDequeue(queue)[0]}, 2)[0], slope);
  });
}

// What an op makes of a file, again and again.
Input FromFile(const std::string& path) {
  return Input([=] {
    const Output number = StringToNumber(ReadFile(Const(Tensor(path))));
    return WithLabels(train::Batch({number}, 2)[0], 2);
  });
}

class QueueInputTest : public testing::Test {
 protected:
  QueueInputTest()
      : dir_(testing::TempDir() + "queue_input_" +
             testing::UnitTest::GetInstance()->current_test_info()->name() +
             std::to_string(getpid())) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  ~QueueInputTest() override { fs::remove_all(dir_); }

  std::string model_dir() const { return dir_ + "/model"; }
  Estimator Make() const {
    return Estimator(Twice, {.model_dir = model_dir(),
                             .save_checkpoints_steps = 2,
                             .cancellation = token_,
                             .tf_config = "{}"});
  }
  // Trains until another thread has cancelled it; nothing is there to train with.
  void ExpectCancelled(const InputFn& input) {
    std::thread other;
    class CancelWhenBegun : public train::Hook {
     public:
      explicit CancelWhenBegun(std::function<void()> cancel) : cancel_(std::move(cancel)) {}
      void BeforeRun(train::RunContext&) override { cancel_(); }

     private:
      const std::function<void()> cancel_;
    };
    const auto begun = std::make_shared<CancelWhenBegun>(
        [&] { other = std::thread([&] { token_->Cancel(Status(Code::kCancelled, "enough")); }); });
    const Status status = StatusOf([&] { Make().Train(input, {.hooks = {begun}}); });
    other.join();
    EXPECT_EQ(status.code(), Code::kCancelled) << status.message();
    EXPECT_EQ(status.message(),
              "enough at step 0: saved " + model_dir() +
                  "/model.ckpt-0; run the same training again to go on from there");
  }

  const std::shared_ptr<CancellationToken> token_ = std::make_shared<CancellationToken>();
  const std::string dir_;
};

TEST_F(QueueInputTest, TrainsEvaluatesAndPredicts) {
  // 3 epochs of 2 batches. Against labels 3 x the error is x: (1 + 4 + 9 + 16) / 4 = 7.5.
  const auto result =
      TrainAndEvaluate(Make(), {.input_fn = [] { return Numbers(3); }, .max_steps = 100},
                       {.input_fn = [] { return Numbers(1, 3); }, .throttle_secs = 0});
  EXPECT_EQ(result.global_step, 6);
  EXPECT_EQ(result.metrics.at("loss"), 7.5);
  EXPECT_EQ(Make().Evaluate([] { return Numbers(2, 4); }).at("loss"), 30);
  Estimator estimator = Make();
  Predictions predictions = estimator.Predict([] { return Numbers(1); });
  data::Element row;
  for (const float x : {1, 2, 3, 4}) {
    ASSERT_TRUE(predictions.Next(&row));
    EXPECT_EQ(row["y"].scalar<float>(), 2 * x);
  }
  EXPECT_FALSE(predictions.Next(&row));
}

TEST_F(QueueInputTest, WhatAThreadFailsWithIsTheError) {
  const auto missing = [this] { return FromFile(dir_ + "/missing"); };
  const auto expect_named = [&](const std::function<void()>& use) {
    const Status status = StatusOf(use);
    EXPECT_EQ(status.code(), Code::kNotFound) << status.message();
    EXPECT_NE(status.message().find(dir_ + "/missing"), std::string::npos) << status.message();
  };
  expect_named([&] { Make().Train(missing); });
  Make().Train([] { return Numbers(1); });
  expect_named([&] { Make().Evaluate(missing); });
  data::Element row;
  Estimator estimator = Make();
  expect_named([&] { estimator.Predict(missing).Next(&row); });
}

// It has no position that a checkpoint could hold, so it has not been read before.
TEST_F(QueueInputTest, AResumedTrainingNeedsABatchToo) {
  const auto none = [] {
    return Input([] {
      const Output queue =
          train::InputProducer(Const(Tensor::Of<float>({1})), {.num_epochs = 1, .shuffle = false});
      return WithLabels(train::Batch({QueueDequeue(queue)[0]}, 2)[0], 2);
    });
  };
  Make().Train([] { return Numbers(1); });
  const Status status = StatusOf([&] { Make().Train(none); });
  EXPECT_EQ(status.message(), "the training input gave no batch; is the data empty?");
}

TEST_F(QueueInputTest, AQueueThatNobodyFills) {
  ExpectCancelled([] {
    return Input([] {
      const Output queue = FIFOQueue({DType::kFloat}, {.shapes = {Shape({2})}});
      return WithLabels(QueueDequeue(queue)[0], 2);
    });
  });
}

TEST_F(QueueInputTest, AThreadThatWaitsForAPipe) {
  ASSERT_EQ(mkfifo((dir_ + "/pipe").c_str(), 0600), 0);
  ExpectCancelled([this] { return FromFile(dir_ + "/pipe"); });
}

}  // namespace
}  // namespace sextant

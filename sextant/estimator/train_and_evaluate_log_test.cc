// What TrainAndEvaluate says: lines of TensorFlow 2.15 and, in the other style, of the documents of
// 2017; and of which missing file it speaks first.
#include <gtest/gtest.h>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/base/temporary_directory.h"
#include "sextant/data/sources.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/canned.h"
#include "sextant/estimator/train_and_evaluate.h"

namespace sextant {
namespace {

class TrainAndEvaluateLogTest : public testing::Test {
 protected:
  Estimator Make(const std::string& name, LogStyle style = LogStyle::kCurrent) const {
    return LinearRegressor({.feature_columns = {columns::Numeric("x")}},
                           {.model_dir = scratch_.path() + "/" + name,
                            .save_checkpoints_steps = 20,
                            .log_style = style});
  }
  std::string LogOf(LogStyle style) const {
    const InputFn rows = [] {
      return data::FromTensors({{"x", Tensor::Of<float>({2, 1}, {1, 2})},
                                {"label", Tensor::Of<float>({2, 1}, {1, 2})}})
          .Repeat();
    };
    SetLogLevel(LogLevel::kInfo);
    testing::internal::CaptureStderr();
    TrainAndEvaluate(Make(style == LogStyle::k2017 ? "2017" : "current", style),
                     {.input_fn = rows, .max_steps = 20}, {.input_fn = rows, .steps = 20});
    return testing::internal::GetCapturedStderr();
  }
  static void ExpectLines(const std::string& log, const std::vector<std::string>& lines) {
    size_t at = 0;
    for (const std::string& line : lines) {
      const size_t found = log.find(" I " + line, at);
      ASSERT_NE(found, std::string::npos) << line << "\nis not in\n" << log.substr(at);
      at = found + 1;
    }
  }
  const TemporaryDirectory scratch_;
};

TEST_F(TrainAndEvaluateLogTest, IsTensorFlows) {
  const std::string log = LogOf(LogStyle::kCurrent);
  ExpectLines(
      log,
      {"Using config: model_dir: ", "Running training and evaluation locally (non-distributed).\n",
       "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint "
       "frequency is determined based on RunConfig arguments: save_checkpoints_steps 20 or "
       "save_checkpoints_secs None.\n",
       "Create CheckpointSaverHook.\n", "Saving checkpoints for 0 into ", "Evaluation [2/20]\n",
       "Evaluation [4/20]\n"});
  EXPECT_EQ(log.find("Evaluation [1/20]"), std::string::npos);
}

TEST_F(TrainAndEvaluateLogTest, IsThatOf2017) {
  ExpectLines(LogOf(LogStyle::k2017),
              {"Using config: {'_save_checkpoints_secs': None, ",
               "Running training and evaluation locally (non-distributed).\n",
               "Start train and evaluate loop. The evaluate will happen after 600 secs "
               "(eval_spec.throttle_secs) or training is finished.\n",
               "Create CheckpointSaverHook.\n", "Evaluation [1/20]\n", "Evaluation [2/20]\n",
               "Evaluation [3/20]\n", "Evaluation [20/20]\n"});
}

// Of a training that has ended nothing is left to do; that is said.
TEST_F(TrainAndEvaluateLogTest, SaysThatATrainingHasEnded) {
  LogOf(LogStyle::kCurrent);
  const std::string log = LogOf(LogStyle::kCurrent);
  ExpectLines(log, {"Running training and evaluation locally (non-distributed).\n",
                    "Start train and evaluate loop. ",
                    "Skipping training since max_steps has already saved.\n"});
  EXPECT_EQ(log.find("Evaluation ["), std::string::npos);
}

// Who has neither file is told of the training's.
TEST_F(TrainAndEvaluateLogTest, NamesTheTrainingFileFirst) {
  const auto missing = [&](const char* name) {
    return [path = scratch_.path() + "/" + name]() -> Input {
      return data::TextLines({path}).Map([](data::Element line) {
        line.Set("x", Tensor::Of<float>({1, 1}, {1}));
        return line;
      });
    };
  };
  try {
    TrainAndEvaluate(Make("none"), {.input_fn = missing("train.txt"), .max_steps = 5},
                     {.input_fn = missing("eval.txt")});
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(e.message().find("train.txt"), std::string::npos) << e.message();
  }
}

}  // namespace
}  // namespace sextant

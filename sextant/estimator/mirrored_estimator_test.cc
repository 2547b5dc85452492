// Estimators on several devices, from data to checkpoints and metrics.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/canned.h"
#include "sextant/estimator/estimator.h"

namespace sextant {
namespace {

constexpr int kLabelledRows = 60, kRowsBatch = 12;

float RowNoise(int64_t i) {
  const double x = std::sin(static_cast<double>(i) * 78.233) * 43758.5453;
  return static_cast<float>(2 * (x - std::floor(x)) - 1);
}

data::Dataset LabelledRows() {
  Tensor x(DType::kFloat, {kLabelledRows, 3}), word(DType::kString, {kLabelledRows}),
      label(DType::kInt64, {kLabelledRows});
  for (int64_t i = 0; i < kLabelledRows; ++i) {
    for (int64_t j = 0; j < 3; ++j) x.data<float>()[i * 3 + j] = RowNoise(i * 3 + j);
    word.data<std::string>()[i] = std::string(1, static_cast<char>('a' + i * 11 % 7));
    label.data<int64_t>()[i] = (i * 11 % 7 < 3) == (x.data<float>()[i * 3] > 0.2f) ? 1 : 0;
  }
  return data::FromTensorSlices({{"x", x}, {"word", word}, {"label", label}});
}

class MirroredEstimatorTest : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(directory_); }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  RunConfig Config(const std::string& name, int devices) const {
    RunConfig config{.model_dir = directory_ + "/" + name, .random_seed = 3};
    config.save_summary_steps = 5;
    if (devices == 1) return config;
    config.train_distribute = MirroredStrategy{};
    for (int i = 0; i < devices; ++i) {
      config.train_distribute->devices.push_back("/cpu:" + std::to_string(i));
    }
    config.eval_distribute = config.train_distribute;
    return config;
  }
  static Estimator WideAndDeep(const RunConfig& config) {
    const auto word =
        columns::VocabularyList("word", {"a", "b", "c", "d", "e"}, {.num_oov_buckets = 2});
    return DNNLinearCombinedClassifier(
        {.linear_feature_columns = {word},
         .dnn_feature_columns = {columns::Numeric("x", {.shape = {3}}),
                                 columns::Embedding(word, {.dimension = 4})},
         .dnn_hidden_units = {16, 8}},
        config);
  }
  static InputFn Batches(int devices) {
    return [=] {
      return LabelledRows().Shuffle(20, {.seed = 5}).Repeat().Batch(kRowsBatch / devices);
    };
  }
  static double Difference(const Estimator& a, const Estimator& b) {
    double most = 0;
    EXPECT_EQ(a.VariableNames(), b.VariableNames());
    for (const std::string& name : a.VariableNames()) {
      const Tensor x = a.VariableValue(name), y = b.VariableValue(name);
      if (x.dtype() != DType::kFloat) continue;
      for (int64_t i = 0; i < x.num_elements(); ++i) {
        const double d = std::abs(x.data<float>()[i] - y.data<float>()[i]);
        most = std::isnan(d) ? INFINITY : std::max(most, d);
      }
    }
    return most;
  }

  const std::string directory_ = std::string(SEXTANT_BINARY_DIR) + "/mirrored_estimator_test." +
                                 testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(MirroredEstimatorTest, CannedEstimatorsLearnTheSameOnAnyNumberOfDevices) {
  Estimator one = WideAndDeep(Config("one", 1));
  EXPECT_EQ(one.Train(Batches(1), {.steps = 20}), 20);
  const InputFn test = [] { return LabelledRows().Batch(7); };  // 9 batches, the last one smaller
  EvalResult expected = one.Evaluate(test);
  EXPECT_GT(expected["accuracy"], 0.5);
  for (const int devices : {2, 4}) {
    SCOPED_TRACE(devices);
    Estimator many = WideAndDeep(Config("many" + std::to_string(devices), devices));
    EXPECT_EQ(many.Train(Batches(devices), {.steps = 20}), 20);
    EXPECT_LE(Difference(one, many), 1e-4);
    const EvalResult result = many.Evaluate(test);
    ASSERT_EQ(result.size(), expected.size());
    for (const auto& [name, value] : expected) {
      EXPECT_NEAR(result.at(name), value, 1e-3 * std::max(1.0, std::abs(value))) << name;
    }
  }
}

TEST_F(MirroredEstimatorTest, ResumesExactly) {
  Estimator straight = WideAndDeep(Config("straight", 2));
  straight.Train(Batches(2), {.max_steps = 12});
  WideAndDeep(Config("broken", 2)).Train(Batches(2), {.max_steps = 5});
  Estimator resumed = WideAndDeep(Config("broken", 2));
  resumed.Train(Batches(2), {.max_steps = 12});
  EXPECT_EQ(Difference(straight, resumed), 0);
}

}  // namespace
}  // namespace sextant

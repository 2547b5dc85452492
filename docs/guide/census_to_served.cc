// Chapter 11: from rows of CSV to a model that answers requests.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include "sextant/sextant.h"

namespace sx = sextant;

// Age, occupation and hours a week; a good income comes with age and hours.
std::string Rows(int count) {
  const char* const jobs[] = {"Sales", "Tech-support", "Craft-repair", "Exec-managerial"};
  std::string rows;
  for (int i = 0; i < count; ++i) {
    const int age = 20 + i * 7 % 50, hours = 20 + i * 11 % 40;
    rows += fmt::format("{}, {}, {}, {}\n", age, jobs[i % 4], hours,
                        age + hours > 80 ? ">50K" : "<=50K");
  }
  return rows;
}

const std::vector<sx::data::CsvColumn> kColumns = {{"age", sx::DType::kFloat},
                                                   {"occupation", sx::DType::kString},
                                                   {"hours", sx::DType::kFloat},
                                                   {"income", sx::DType::kString}};

sx::Input InputFn(const std::string& file, bool shuffle) {
  sx::data::Dataset rows = sx::data::Csv({file}, {.columns = kColumns});
  if (shuffle) rows = rows.Shuffle(400, {.seed = 1}).Repeat();
  return {rows.Batch(40), {"income"}};
}

sx::Estimator BuildEstimator(const sx::RunConfig& config) {
  const auto age = sx::columns::Numeric("age");
  const auto hours = sx::columns::Numeric("hours");
  const auto job = sx::columns::HashBucket("occupation", 100);
  const auto ages = sx::columns::Bucketized(age, {30, 45, 60});
  const auto worked = sx::columns::Bucketized(hours, {30, 40, 50});
  return sx::DNNLinearCombinedClassifier(
      {.linear_feature_columns = {job, ages, worked, sx::columns::Crossed({ages, worked}, 100)},
       .linear_optimizer = sx::train::Ftrl({.learning_rate = 0.1}),
       .dnn_feature_columns = {age, hours, sx::columns::Embedding(job, {.dimension = 4})},
       .dnn_hidden_units = {16, 8},
       .label_vocabulary = {" <=50K", " >50K"}},
      config);
}

int main() {
  sx::SetLogLevel(sx::LogLevel::kWarning);
  sx::FileSystem& files = sx::FileSystem::ForPath("train.csv");
  files.WriteFileAtomically("train.csv", Rows(2000));
  files.WriteFileAtomically("test.csv", Rows(400));

  const sx::Estimator estimator = BuildEstimator({.model_dir = "run", .random_seed = 1});
  const auto serving = sx::JsonReceiver(kColumns, {"income"});
  const auto result = sx::TrainAndEvaluate(
      estimator, {.input_fn = [] { return InputFn("train.csv", true); }, .max_steps = 300},
      {.input_fn = [] { return InputFn("test.csv", false); },
       .steps = 10,
       .exporters = {sx::FinalExporter("census", serving)}});
  fmt::print("better than always answering alike: {}\n",
             result.metrics.at("accuracy") > result.metrics.at("accuracy_baseline") + 0.1);

  const auto model = sx::SavedModel::Load(result.exports[0]);
  fmt::print("signatures: {}\n", fmt::join(model.signature_keys(), ", "));
  const auto answer = model.signature("predict").Run(
      {{"age", sx::Tensor::Of<float>({25, 58})},
       {"occupation", sx::Tensor::Of<std::string>({" Sales", " Exec-managerial"})},
       {"hours", sx::Tensor::Of<float>({25, 55})}});
  for (const std::string& word : answer.at("classes").flat<std::string>()) fmt::print("{}\n", word);
}

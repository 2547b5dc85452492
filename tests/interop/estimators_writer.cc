// Every canned estimator, trained a little and exported with every receiver, with the answers of
// each signature: FOLDER/ESTIMATOR/RECEIVER/… and RECEIVER.answers, a checkpoint of the tensors
// "SIGNATURE/in/KEY" and "SIGNATURE/out/KEY".
#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/canned.h"
#include "sextant/formats/example_builder.h"
#include "sextant/formats/tensor_bundle_writer.h"
#include "sextant/runtime/saved_model.h"
#include "sextant/train/optimizers.h"
#include "tests/interop/writers.h"

namespace sextant::interop {
namespace {

constexpr int64_t kEstimatorRows = 40;

// In lifetimes of 64 years: numbers near 1 keep rounding small.
float Age(int64_t row) { return static_cast<float>(17 + row * 7 % 60) / 64; }
std::string Job(int64_t row) {
  const char* const jobs[] = {"clerk", "baker", "pilot", "none", "sailor, retired"};
  return jobs[row * 3 % 5];
}

template <typename T>
Tensor Column(const Shape& shape, const std::function<T(int64_t)>& value) {
  Tensor tensor(DTypeOf<T>, shape);
  for (int64_t i = 0; i < kEstimatorRows; ++i) tensor.data<T>()[i] = value(i);
  return tensor;
}

data::Dataset Rows(const Tensor& label) {
  return data::FromTensorSlices({{"age", Column<float>({kEstimatorRows, 1}, Age)},
                                 {"job", Column<std::string>({kEstimatorRows, 1}, Job)},
                                 {"label", label}})
      .Batch(kEstimatorRows);
}
Tensor Classes(int64_t count) {
  return Column<int64_t>({kEstimatorRows}, [=](int64_t i) { return i * i % 7 % count; });
}
Tensor Words() {
  return Column<std::string>({kEstimatorRows}, [](int64_t i) { return i % 3 == 0 ? "yes" : "no"; });
}
Tensor Numbers() {
  return Column<float>({kEstimatorRows}, [](int64_t i) { return static_cast<float>(i % 9) / 3; });
}

struct Columns {
  columns::FeatureColumn age = columns::Numeric("age");
  columns::FeatureColumn ages = columns::Bucketized(age, {.4f, .6f, .9f});
  columns::FeatureColumn jobs = columns::HashBucket("job", 20);
  columns::FeatureColumn words = columns::VocabularyList("job", {"clerk", "baker", "pilot"});
  std::vector<columns::FeatureColumn> wide = {age, ages, jobs, columns::Crossed({ages, "job"}, 50)};
  std::vector<columns::FeatureColumn> deep = {age, columns::Indicator(words),
                                              columns::Embedding(jobs, {.dimension = 3})};
};

std::vector<data::CsvColumn> CsvColumns() {
  return {{"age", DType::kFloat, Tensor(0.0f)},
          {"job", DType::kString, Tensor("")},
          {"label", DType::kInt64, Tensor(int64_t{0})}};
}

struct Receiver {
  std::string name;
  ServingInputFn function;
  NamedTensors requests;
};

std::vector<Receiver> Receivers() {
  const Columns c;
  std::vector<columns::FeatureColumn> all = c.wide;
  all.insert(all.end(), c.deep.begin(), c.deep.end());
  const auto example = [](int64_t i) {
    return ExampleBuilder().Float("age", Age(i)).Bytes("job", Job(i)).Serialize();
  };
  const auto line = [](int64_t i) { return fmt::format("{},\"{}\"", Age(i), Job(i)); };
  return {{"parsing",
           ParsingReceiver(columns::MakeParseExampleSpec(all)),
           {{"examples", Column<std::string>({kEstimatorRows}, example)}}},
          {"raw",
           RawReceiver({{"age", DType::kFloat, PartialShape({-1, 1})},
                        {"job", DType::kString, PartialShape({-1, 1})}}),
           {{"age", Column<float>({kEstimatorRows, 1}, Age)},
            {"job", Column<std::string>({kEstimatorRows, 1}, Job)}}},
          {"csv",
           CsvReceiver(CsvColumns(), {"label"}),
           {{"csv_row", Column<std::string>({kEstimatorRows}, line)}}},
          {"json",
           JsonReceiver(CsvColumns(), {"label"}),
           {{"age", Column<float>({kEstimatorRows}, Age)},
            {"job", Column<std::string>({kEstimatorRows}, Job)}}}};
}

// The inputs of a signature, by whatever names it has.
NamedTensors InputsOf(const Signature& signature, const NamedTensors& requests) {
  if (signature.inputs().size() == 1 && requests.size() == 1) {
    return {{signature.inputs().begin()->first, requests.begin()->second}};
  }
  return requests;
}

void CheckEqual(const Tensor& a, const Tensor& b, const std::string& what) {
  bool equal = a.dtype() == b.dtype() && a.shape() == b.shape();
  for (int64_t i = 0; equal && a.dtype() == DType::kFloat && i < a.num_elements(); ++i) {
    equal = std::fabs(a.data<float>()[i] - b.data<float>()[i]) <= 1e-5;
  }
  if (!equal)
    throw Internal("{}: the export gives {}, Predict {}", what, a.ToString(), b.ToString());
}

void Export(Estimator& estimator, const Tensor& label, const std::string& folder) {
  estimator.Train([&] { return Rows(label).Repeat(); }, {.steps = 5});
  data::Element predicted;
  estimator.Predict([&] { return Rows(label); }, {.single_examples = false}).Next(&predicted);
  for (const Receiver& receiver : Receivers()) {
    const std::string directory = folder + "/" + receiver.name;
    std::filesystem::rename(estimator.ExportSavedModel(folder + "/exports", receiver.function),
                            directory);
    const SavedModel model = SavedModel::Load(directory);
    std::map<std::string, Tensor> answers;
    for (const std::string& key : model.signature_keys()) {
      const Signature& signature = model.signature(key);
      const NamedTensors inputs = InputsOf(signature, receiver.requests);
      for (const auto& [name, tensor] : inputs) answers[key + "/in/" + name] = tensor;
      for (const auto& [name, tensor] : signature.Run(inputs)) {
        answers[key + "/out/" + name] = tensor;
        if (key == "predict") CheckEqual(tensor, predicted[name], directory + " " + name);
      }
    }
    WriteCheckpoint(folder + "/" + receiver.name + ".answers", answers);
  }
}

}  // namespace

void WriteEstimators(const std::string& folder) {
  SetLogLevel(LogLevel::kWarning);
  const Columns c;
  const auto write = [&](const char* name, const Tensor& label,
                         const std::function<Estimator(const RunConfig&)>& make) {
    Estimator estimator = make({.model_dir = fmt::format("{}/{}/model_dir", folder, name)});
    Export(estimator, label, folder + "/" + name);
  };
  write("linear_classifier", Classes(2), [&](const RunConfig& config) {
    return LinearClassifier({.feature_columns = c.wide}, config);
  });
  write("linear_words", Words(), [&](const RunConfig& config) {
    return LinearClassifier({.feature_columns = c.wide, .label_vocabulary = {"no", "yes"}}, config);
  });
  write("linear_regressor", Numbers(), [&](const RunConfig& config) {
    return LinearRegressor({.feature_columns = c.wide}, config);
  });
  write("dnn_classifier", Classes(3), [&](const RunConfig& config) {
    return DNNClassifier({.feature_columns = c.deep,
                          .hidden_units = {6, 4},
                          .n_classes = 3,
                          .dropout = 0.2f,
                          .batch_norm = true},
                         config);
  });
  write("dnn_regressor", Numbers(), [&](const RunConfig& config) {
    return DNNRegressor({.feature_columns = c.deep, .hidden_units = {6}, .optimizer = "Adam"},
                        config);
  });
  write("combined_classifier", Classes(2), [&](const RunConfig& config) {
    return DNNLinearCombinedClassifier({.linear_feature_columns = c.wide,
                                        .dnn_feature_columns = c.deep,
                                        .dnn_hidden_units = {6, 4}},
                                       config);
  });
  write("combined_regressor", Numbers(), [&](const RunConfig& config) {
    return DNNLinearCombinedRegressor(
        {.linear_feature_columns = c.wide, .dnn_feature_columns = c.deep, .dnn_hidden_units = {6}},
        config);
  });
  write("baseline_classifier", Classes(3),
        [](const RunConfig& config) { return BaselineClassifier({.n_classes = 3}, config); });
  write("baseline_regressor", Numbers(),
        [](const RunConfig& config) { return BaselineRegressor({}, config); });
}

}  // namespace sextant::interop

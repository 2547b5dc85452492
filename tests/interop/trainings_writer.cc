// Checkpoints of trainings: the census model, with what it evaluates to, and a residual net, with
// its logits. The inputs lie beside them as checkpoints of tensors.
#include <cmath>

#include "sextant/base/error.h"
#include "sextant/base/logging.h"
#include "sextant/data/tensor_sources.h"
#include "sextant/estimator/canned.h"
#include "sextant/formats/tensor_bundle_writer.h"
#include "sextant/models/census_columns.h"
#include "sextant/models/resnet_cifar.h"
#include "sextant/train/optimizers.h"
#include "tests/interop/writers.h"

namespace sextant::interop {
namespace {

constexpr int64_t kTrainingRows = 64;

// People made up of the words that the columns know, and of one that they do not.
data::Element People() {
  data::Element people;
  const char* const words[] = {" Male",    " White", " Masters", " Divorced", " Husband",
                               " Private", " Sales", " Cuba",    " Female",   " Unheard-of"};
  const std::vector<data::CsvColumn> columns = models::CensusRequestColumns();
  for (size_t k = 0; k < columns.size(); ++k) {
    Tensor values(columns[k].dtype, Shape{kTrainingRows});
    for (int64_t i = 0; i < kTrainingRows; ++i) {
      const auto number = static_cast<int64_t>(k);
      if (columns[k].dtype == DType::kString) {
        values.data<std::string>()[i] = words[(i % 3 == 0 ? number : i * 7 + number) % 10];
      } else {
        values.data<float>()[i] = static_cast<float>(20 + (i * 13 + number) % 45);
      }
    }
    people.Set(columns[k].name, values);
  }
  Tensor label(DType::kInt64, Shape{kTrainingRows});
  for (int64_t i = 0; i < kTrainingRows; ++i) label.data<int64_t>()[i] = i % 3 == 0;
  people.Set("label", label);
  return people;
}

std::map<std::string, Tensor> AsMap(const data::Element& element) {
  return {element.fields().begin(), element.fields().end()};
}

void WriteCensus(const std::string& folder) {
  const models::CensusFeatureColumns features = models::CensusFeatures(8);
  Estimator estimator =
      DNNLinearCombinedClassifier({.linear_feature_columns = features.wide,
                                   .dnn_feature_columns = features.deep,
                                   .dnn_hidden_units = {100, 70, 50, 25}},
                                  {.model_dir = folder + "/census", .random_seed = 1});
  const data::Element people = People();
  const data::Dataset rows = data::FromTensorSlices(people).Batch(16);
  estimator.Train([&] { return rows.Repeat(); }, {.steps = 10});
  std::map<std::string, Tensor> record = AsMap(people);
  for (const auto& [name, value] : estimator.Evaluate([&] { return rows; })) {
    record["metric/" + name] = Tensor(static_cast<float>(value));
  }
  WriteCheckpoint(folder + "/census.record", record);
}

EstimatorSpec Resnet(const ModelFnArgs& args) {
  Output logits;
  {
    const VariableScope scope("resnet");
    logits = models::ResnetCifarLogits(args.features["image"], {.units_per_stage = 1},
                                       args.mode == Mode::kTrain);
  }
  return heads::MultiClass(11).Spec(args, logits, train::Momentum({.learning_rate = 0.1}));
}

void WriteResnet(const std::string& folder) {
  Tensor images(DType::kFloat, Shape{8, 32, 32, 3}), labels(DType::kInt64, Shape{8});
  for (int64_t i = 0; i < images.num_elements(); ++i) {
    images.data<float>()[i] = static_cast<float>((i * 37 + i / 96) % 256);
  }
  for (int64_t i = 0; i < 8; ++i) labels.data<int64_t>()[i] = i;
  const data::Dataset rows =
      data::FromTensorSlices({{"image", images}, {"label", labels}}).Batch(8);
  Estimator estimator(Resnet, {.model_dir = folder + "/resnet", .random_seed = 1});
  estimator.Train([&] { return rows.Repeat(); }, {.steps = 3});
  data::Element predicted;
  estimator.Predict([&] { return rows; }, {.single_examples = false}).Next(&predicted);
  WriteCheckpoint(folder + "/resnet.record", {{"image", images}, {"logits", predicted["logits"]}});
}

}  // namespace

void WriteTrainings(const std::string& folder) {
  SetLogLevel(LogLevel::kWarning);
  WriteCensus(folder);
  WriteResnet(folder);
}

}  // namespace sextant::interop
